"""Edits of source text that a fix is made of: one argument, one element, one string, all else as it stands.

Reading is done with `ast` since it is quick; an edit has to keep comments, blank lines and trailing commas,
which `ast` does not know, so the one top-level statement that is edited goes through libcst. What changed
is then cut down to the characters that differ.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tritonlint.finding import Edit
from tritonlint.source.text import split_lines
from tritonlint.span import Span

if TYPE_CHECKING:
    import libcst as cst

_Place = tuple[int, int, int, int]


def set_argument(source: str, call: Span, name: str, value: str) -> Edit | None:
    """`name=value` in the call (or the dict literal) at `call`: replaces the value where the name is given,
    else adds it as the last argument in the layout of the others. None where the place holds neither, or
    the value would not parse."""
    import libcst as cst

    region = _region(source, call)
    if region is None:
        return None
    node = region.find(call, (cst.Call, cst.Dict))
    if isinstance(node, cst.Call):
        return region.replace(source, node, _with_argument(node, name, value))
    if isinstance(node, cst.Dict):
        return region.replace(source, node, _with_key(node, name, value))
    return None


def remove_element(source: str, element: Span) -> Edit | None:
    """The element of a list or tuple literal at `element` taken out, with its comma and the comment on its
    line. None where it is not an element of a literal, or one of two of a tuple."""
    import libcst as cst

    region = _region(source, element)
    if region is None:
        return None
    for holder in region.nodes((cst.List, cst.Tuple)):
        assert isinstance(holder, (cst.List, cst.Tuple))
        for index, item in enumerate(holder.elements):
            if region.place(item.value) == _tuple(element, region.offset):
                if isinstance(holder, cst.Tuple) and len(holder.elements) <= 2:
                    return None  # (a, b) without b would need a comma that is not there
                return region.replace(source, holder, _without(holder, index))
    return None


def replace_string(source: str, span: Span, text: str) -> Edit | None:
    """The string literal at `span` with another content, in the same quotes. None where it is no such
    literal."""
    old = text_at(source, span)
    for quote in ('"""', "'''", '"', "'"):
        if old.startswith(quote) and old.endswith(quote) and len(old) >= 2 * len(quote):
            return Edit(span, quote + text + quote)
    return None


def replace_text(source: str, span: Span, expected: str, text: str) -> Edit | None:
    """The literal at `span` replaced, None where it does not read as expected (a name, a computed value)."""
    return Edit(span, text) if text_at(source, span).strip() == expected else None


def text_at(source: str, span: Span) -> str:
    """The text of a span; "" where the span lies outside."""
    lines = split_lines(source)
    if not 1 <= span.line <= span.end_line <= len(lines):
        return ""
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    middle = lines[span.line : span.end_line - 1]
    return "\n".join(
        [lines[span.line - 1][span.column - 1 :], *middle, lines[span.end_line - 1][: span.end_column - 1]]
    )


def apply(source: str, edits: tuple[Edit, ...]) -> str:
    """The text with the edits made, the last first. Overlapping edits: the earlier one in the text wins."""
    lines = split_lines(source)
    starts = _starts(source, lines)

    def offset(line: int, column: int) -> int:
        return starts[min(line, len(starts)) - 1] + column - 1

    chosen: list[tuple[int, int, str]] = []
    for edit in sorted(edits, key=lambda one: one.span):
        begin = offset(edit.span.line, edit.span.column)
        end = offset(edit.span.end_line, edit.span.end_column)
        if not chosen or begin >= chosen[-1][1]:
            chosen.append((begin, end, edit.text))
    for begin, end, text in reversed(chosen):
        source = source[:begin] + text + source[end:]
    return source


def _starts(source: str, lines: list[str]) -> list[int]:
    """Offset of each line's first character; line ends are one or two characters long."""
    starts = [0]
    at = 0
    for line in lines:
        at += len(line)
        if source[at : at + 2] == "\r\n":
            at += 2
        elif at < len(source):
            at += 1
        starts.append(at)
    return starts


@dataclass(frozen=True)
class _Region:
    """One top-level statement: its text, its first line less one, and where each node of it stands."""

    text: str
    offset: int
    module: cst.Module
    places: dict[cst.CSTNode, _Place]

    def place(self, node: cst.CSTNode) -> _Place | None:
        return self.places.get(node)

    def nodes(self, kinds: tuple[type[cst.CSTNode], ...]) -> list[cst.CSTNode]:
        return [node for node in self.places if isinstance(node, kinds)]

    def find(self, span: Span, kinds: tuple[type[cst.CSTNode], ...]) -> cst.CSTNode | None:
        wanted = _tuple(span, self.offset)
        return next((node for node in self.nodes(kinds) if self.places[node] == wanted), None)

    def replace(self, source: str, old: cst.CSTNode, new: cst.CSTNode | None) -> Edit | None:
        if new is None:
            return None
        changed = self.module.deep_replace(old, new)
        text = getattr(changed, "code", "")
        edit = _difference(self.text, text, self.offset)
        if "\r\n" in source:
            edit = Edit(edit.span, edit.text.replace("\n", "\r\n"))
        try:
            ast.parse(apply(source, (edit,)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return edit


def _tuple(span: Span, offset: int) -> _Place:
    return (span.line - offset, span.column, span.end_line - offset, span.end_column)


def _region(source: str, span: Span) -> _Region | None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for statement in tree.body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        last = statement.end_lineno or statement.lineno
        if first <= span.line and span.end_line <= last:
            # Two statements on one line (`a = 1; b = 2`) are parsed together.
            lines = split_lines(source)[first - 1 : last]
            return _parse("\n".join(lines) + "\n", first - 1)
    return None


@lru_cache(maxsize=4)
def _parse(text: str, offset: int) -> _Region | None:
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        ranges = wrapper.resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    places = {
        node: (at.start.line, at.start.column + 1, at.end.line, at.end.column + 1)
        for node, at in ranges.items()
    }
    return _Region(text, offset, wrapper.module, places)


def _difference(old: str, new: str, offset: int) -> Edit:
    """The smallest edit that makes `new` of `old`, widened to whole words."""
    head = 0
    limit = min(len(old), len(new))
    while head < limit and old[head] == new[head]:
        head += 1
    while head and (old[head - 1].isalnum() or old[head - 1] == "_"):
        head -= 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    while tail and (old[-tail].isalnum() or old[-tail] == "_"):
        tail -= 1
    before = old[:head]
    until = old[: len(old) - tail]
    span = Span(
        offset + before.count("\n") + 1,
        len(before) - before.rfind("\n"),
        offset + until.count("\n") + 1,
        len(until) - until.rfind("\n"),
    )
    return Edit(span, new[head : len(new) - tail])


def _expression(text: str) -> cst.BaseExpression | None:
    import libcst as cst

    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return None


def _with_argument(call: cst.Call, name: str, value: str) -> cst.Call | None:
    import libcst as cst

    new_value = _expression(value)
    if new_value is None:
        return None
    for index, argument in enumerate(call.args):
        if argument.keyword is not None and argument.keyword.value == name:
            changed = [*call.args]
            changed[index] = argument.with_changes(value=new_value)
            return call.with_changes(args=changed)
    added = cst.Arg(
        value=new_value,
        keyword=cst.Name(name),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    if not call.args:
        return call.with_changes(args=[added])
    last = call.args[-1]
    between: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    earlier = call.args[-2].comma if len(call.args) > 1 else None
    if isinstance(earlier, cst.Comma):
        between = _without_comments(earlier.whitespace_after)
    elif isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        between = _without_comments(call.whitespace_before_args)
    if isinstance(last.comma, cst.Comma):
        added = added.with_changes(comma=_moved_end(last.comma, between))
        kept = last.with_changes(comma=_kept_comment(last.comma, between))
    else:
        added = added.with_changes(whitespace_after_arg=last.whitespace_after_arg)
        kept = last.with_changes(
            comma=cst.Comma(whitespace_after=between), whitespace_after_arg=cst.SimpleWhitespace("")
        )
    return call.with_changes(args=[*call.args[:-1], kept, added])


def _without_comments(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    import libcst as cst

    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])


def _kept_comment(comma: cst.Comma, between: cst.BaseParenthesizableWhitespace) -> cst.Comma:
    """The comma of what was the last argument: the comment of its line stays there."""
    import libcst as cst

    after = comma.whitespace_after
    if isinstance(after, cst.ParenthesizedWhitespace) and isinstance(between, cst.ParenthesizedWhitespace):
        return comma.with_changes(whitespace_after=between.with_changes(first_line=after.first_line))
    if isinstance(after, cst.ParenthesizedWhitespace) and after.first_line.comment is not None:
        return comma.with_changes(whitespace_after=after)
    return comma.with_changes(whitespace_after=between)


def _moved_end(comma: cst.Comma, between: cst.BaseParenthesizableWhitespace) -> cst.Comma:
    return comma.with_changes(whitespace_after=_without_comments(comma.whitespace_after))


def _with_key(node: cst.Dict, name: str, value: str) -> cst.Dict | None:
    import libcst as cst

    new_value = _expression(value)
    if new_value is None:
        return None
    for index, element in enumerate(node.elements):
        if (
            isinstance(element, cst.DictElement)
            and isinstance(element.key, cst.SimpleString)
            and element.key.evaluated_value == name
        ):
            changed = [*node.elements]
            changed[index] = element.with_changes(value=new_value)
            return node.with_changes(elements=changed)
    return None


def _without(holder: cst.List | cst.Tuple, index: int) -> cst.List | cst.Tuple | None:
    """A list without one element. What stands before the next element (or the bracket) takes the place of
    what stood before the removed one, but the comment at the end of the line before stays with that
    line."""
    import libcst as cst

    elements = [*holder.elements]
    removed = elements.pop(index)
    comma = removed.comma
    after = comma.whitespace_after if isinstance(comma, cst.Comma) else None
    if index:
        before = elements[index - 1].comma
        assert isinstance(before, cst.Comma)
        if after is not None:
            joined = _joined(before.whitespace_after, after)
            elements[index - 1] = elements[index - 1].with_changes(
                comma=before.with_changes(whitespace_after=joined)
            )
        elif isinstance(holder, cst.List):
            space = before.whitespace_after
            comment = isinstance(space, cst.ParenthesizedWhitespace) and space.first_line.comment is not None
            if comment:
                joined = _joined(space, holder.rbracket.whitespace_before)
                elements[index - 1] = elements[index - 1].with_changes(
                    comma=before.with_changes(whitespace_after=joined)
                )
                return holder.with_changes(
                    elements=elements, rbracket=cst.RightSquareBracket(cst.SimpleWhitespace(""))
                )
            elements[index - 1] = elements[index - 1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        else:
            elements[index - 1] = elements[index - 1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    elif isinstance(holder, cst.List) and after is not None:
        joined = _joined(holder.lbracket.whitespace_after, after)
        return holder.with_changes(elements=elements, lbracket=cst.LeftSquareBracket(joined))
    return holder.with_changes(elements=elements)


def _joined(
    before: cst.BaseParenthesizableWhitespace, after: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    import libcst as cst

    if isinstance(before, cst.ParenthesizedWhitespace) and isinstance(after, cst.ParenthesizedWhitespace):
        return after.with_changes(
            first_line=before.first_line, empty_lines=[*before.empty_lines, *after.empty_lines]
        )
    if isinstance(before, cst.ParenthesizedWhitespace):
        return before
    if isinstance(after, cst.ParenthesizedWhitespace):
        return _without_comments(after)
    return before
