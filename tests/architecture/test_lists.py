"""What stands between listed things is of the reader's language: templates leave it to `listed` and `translate`."""

from __future__ import annotations

import re

from tests.architecture.sources import APPS

OWN_MARKS = re.compile(r"""\|join:["'][,;] ["']|%\}[,;] \{% endif %\}""")


def test_no_template_sets_listed_things_apart_by_english_marks():
    templates = list((APPS.parent / "templates").rglob("*.html"))
    assert templates
    wrong = [(path.name, found) for path in templates for found in OWN_MARKS.findall(path.read_text("utf-8"))]
    assert wrong == []
