"""What a page's forms send: the token that guards a POST never stands in an address."""

from __future__ import annotations

import re

from tests.architecture.sources import APPS

TOKEN = "{% csrf_token %}"
FORMS = [
    (path.name, tag, body)
    for path in (APPS.parent / "templates").rglob("*.html")
    for tag, body in re.findall(r"(<form\b[^>]*>)(.*?)</form>", path.read_text(), re.DOTALL)
]


def test_a_form_that_gets_leaves_the_token_out():
    assert FORMS
    wrong = []
    for name, tag, body in FORMS:
        if TOKEN not in body:
            continue
        gets = "post" not in tag or 'formmethod="get"' in body
        if gets or ("hx-get" in tag + body and 'hx-params="not csrfmiddlewaretoken"' not in tag):
            wrong.append(f"{name}: {tag}")
    assert not wrong
