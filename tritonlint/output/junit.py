"""JUnit XML, as Jenkins and others show it: a test case a finding, and one that passes for all that is
well."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tritonlint.finding import located
from tritonlint.fingerprint import relative
from tritonlint.lint_many import Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    failures = sum(finding.severity != "info" for finding in report.findings)
    cases = len(report.findings) + len(report.problems)
    counts = {"tests": str(max(cases, 1)), "failures": str(failures), "errors": str(len(report.problems))}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "tritonlint", **counts})
    for finding in report.findings:
        place = f"{located(relative(finding.path), finding.cell)}:{finding.span.line}:{finding.span.column}"
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "name": _clean(f"{finding.code} {finding.name} {place}"),
                "classname": _clean(relative(finding.path)),
                "file": _clean(relative(finding.path)),
                "line": str(finding.span.line),
            },
        )
        text = f"{place}: {finding.message}" + (f"\n{finding.help}" if finding.help else "")
        if finding.severity == "info":
            ElementTree.SubElement(case, "system-out").text = _clean(text)
        else:
            failure = {"message": _clean(finding.message), "type": finding.severity}
            ElementTree.SubElement(case, "failure", failure).text = _clean(text)
    for problem in report.problems:
        name = {"name": _clean(problem.path), "classname": _clean(relative(problem.path))}
        case = ElementTree.SubElement(suite, "testcase", name)
        ElementTree.SubElement(case, "error", {"message": _clean(problem.message), "type": "error"})
    if not cases:
        ElementTree.SubElement(suite, "testcase", {"name": "no findings", "classname": "tritonlint"})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="us-ascii").decode("ascii")  # the same under every locale
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return _NOT_XML.sub("?", text)
