"""A decision as JUnit XML, which CI systems show as tests: one case for each item.

JUnit knows neither warning nor waiver: a warning passes with a remark, a waived item is skipped, and what is
unknown is an error. The gate's exit code decides, not the colour of this report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree

from apps.core.verdicts import Verdict

_CHILD = {Verdict.FAIL: "failure", Verdict.UNKNOWN: "error", Verdict.WAIVED: "skipped"}


def junit(items: Iterable[Mapping[str, Any]], *, class_name: str, standing: str) -> str:
    """The report of one evaluation.

    class_name: cluster and matrix, since GitLab leaves names of suites out. items: with key, verdict, code and
    message, as an evaluation keeps them.
    """
    rows = list(items)
    verdicts = [Verdict(row["verdict"]) for row in rows]
    suite = ElementTree.Element(
        "testsuite",
        name=f"launch gate: {standing}",
        tests=str(len(rows)),
        failures=str(verdicts.count(Verdict.FAIL)),
        errors=str(verdicts.count(Verdict.UNKNOWN)),
        skipped=str(verdicts.count(Verdict.WAIVED)),
    )
    for row, verdict in zip(rows, verdicts, strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname=class_name, name=row["key"])
        if verdict in _CHILD:
            ElementTree.SubElement(case, _CHILD[verdict], message=row["message"], type=row["code"])
        elif verdict is Verdict.WARN:
            ElementTree.SubElement(case, "system-out").text = f"warning: {row['message']}"
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
