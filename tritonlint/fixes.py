"""Edits of source text that a fix is made of: one argument, one element, one string, all else as it stands.

Reading is done with `ast` since it is quick; an edit has to keep comments, blank lines and trailing commas,
which `ast` does not know, so the one expression that is edited goes through libcst. What changed
is then cut down to the characters that differ.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tritonlint.finding import Edit
from tritonlint.source.text import Lines, split_lines
from tritonlint.span import Span

if TYPE_CHECKING:
    import libcst as cst


def set_argument(source: str, call: Span, name: str, value: str) -> Edit | None:
    """`name=value` in the call (or the dict literal) at `call`: replaces the value where the name is given,
    else adds it as the last argument in the layout of the others. None where the place holds neither, or
    the value would not parse."""
    import libcst as cst

    node = _expression(text_at(source, call))
    if isinstance(node, cst.Call):
        return _edit(source, call, _with_argument(node, name, value))
    if isinstance(node, cst.Dict):
        return _edit(source, call, _with_key(node, name, value))
    return None


def remove_element(source: str, element: Span) -> Edit | None:
    """The element of a list or tuple literal at `element` taken out, with its comma and the comment on its
    line. None where it is not an element of a literal, or one of two of a tuple."""
    import libcst as cst

    found = _elements(source).get(element)
    if found is None:
        return None
    holder, index = found
    node = _expression(text_at(source, holder))
    if (isinstance(node, cst.Tuple) and len(node.elements) > 2) or isinstance(node, cst.List):
        return _edit(source, holder, _without(node, index))
    return None  # of (a, b) without b, (a) would be left, which is no tuple


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
    lines = _lines_of(source)
    if not 1 <= span.line <= span.end_line <= len(lines):
        return ""
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    middle = lines[span.line : span.end_line - 1]
    return "\n".join(
        [lines[span.line - 1][span.column - 1 :], *middle, lines[span.end_line - 1][: span.end_column - 1]]
    )


@lru_cache(maxsize=1)
def _lines_of(source: str) -> tuple[str, ...]:
    """Rules ask for many places of one file in turn."""
    return tuple(split_lines(source))


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


@lru_cache(maxsize=2)
def _elements(source: str) -> Mapping[Span, tuple[Span, int]]:
    """For each element of a list or tuple literal: the literal, and the element's number."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = Lines(split_lines(source))
    found: dict[Span, tuple[Span, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)):
            holder = lines.span(node)
            for index, element in enumerate(node.elts):
                found[lines.span(element)] = (holder, index)
    return found


def _edit(source: str, span: Span, node: cst.BaseExpression | None) -> Edit | None:
    """The change of the text at `span` to that of a node, cut down to what differs. None where it would not
    parse."""
    import libcst as cst

    if node is None:
        return None
    text = cst.Module([]).code_for_node(node)
    try:
        ast.parse(f"({text}\n)", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    edit = _difference(text_at(source, span), text, span)
    if "\r\n" in source:
        return Edit(edit.span, edit.text.replace("\n", "\r\n"))
    return edit


def _difference(old: str, new: str, place: Span) -> Edit:
    """The smallest edit that makes `new` of `old`, which stands at `place`; widened to whole words."""
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
    start, end = _after(place, old[:head]), _after(place, old[: len(old) - tail])
    return Edit(Span(*start, *end), new[head : len(new) - tail])


def _after(place: Span, text: str) -> tuple[int, int]:
    """Line and column behind a text that begins at a place."""
    lines = text.count("\n")
    if not lines:
        return (place.line, place.column + len(text))
    return (place.line + lines, len(text) - text.rfind("\n"))


def _expression(text: str) -> cst.BaseExpression | None:
    import libcst as cst

    try:
        return cst.parse_expression(text)
    except (cst.ParserSyntaxError, RecursionError):
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
        if after is not None and index == len(elements) and isinstance(holder, cst.List):
            return _without_last(holder, elements, before)
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


def _without_last(holder: cst.List, elements: list[cst.BaseElement], before: cst.Comma) -> cst.List:
    """The list without its last element, behind which a comma stood. The comma stays where the bracket has a line of its
    own."""
    import libcst as cst

    end = holder.rbracket.whitespace_before
    if not isinstance(end, cst.ParenthesizedWhitespace):
        space = before.whitespace_after
        if not isinstance(space, cst.ParenthesizedWhitespace):
            elements[-1] = elements[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            end = cst.SimpleWhitespace("")
        else:
            end = space
            elements[-1] = elements[-1].with_changes(
                comma=before.with_changes(whitespace_after=cst.SimpleWhitespace(""))
            )
    else:
        elements[-1] = elements[-1].with_changes(
            comma=before.with_changes(whitespace_after=cst.SimpleWhitespace(""))
        )
        end = _joined(before.whitespace_after, end)
    return holder.with_changes(elements=elements, rbracket=cst.RightSquareBracket(end))


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
