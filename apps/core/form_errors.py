"""What a service found wrong, shown at the fields of the form that was sent."""

from __future__ import annotations

import re

from django.forms import BaseForm

from apps.core.errors import Invalid, PortalError
from apps.core.speech import said
from apps.core.texts import say

_FIELD = re.compile(r"/\w*")


def refused(form: BaseForm, *, code: str = "") -> Invalid:
    """What is wrong in a form that has no page to show it."""
    return Invalid(" ".join(error for errors in form.errors.values() for error in errors), code=code)


def show(form: BaseForm, error: PortalError) -> None:
    """Put the error's texts at the fields that its pointers name (/email), else at the head of the form.

    There a text says where it belongs if that is a place in a file (row 3, column rule; /entries/2/values).
    """
    for item in error.errors:
        name = item.pointer.strip("/").partition("/")[0]
        if name in form.fields:
            form.add_error(name, said(item.message))
        elif item.pointer and not _FIELD.fullmatch(item.pointer):
            form.add_error(None, said(say("%(where)s: %(what)s", where=item.pointer, what=item.message)))
        else:
            form.add_error(None, said(item.message))
    if not error.errors:
        form.add_error(None, said(error.message))
