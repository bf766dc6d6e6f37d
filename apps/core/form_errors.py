"""What a service found wrong, shown at the fields of the form that was sent."""

from __future__ import annotations

from django.forms import BaseForm

from apps.core.errors import PortalError
from apps.core.speech import said


def show(form: BaseForm, error: PortalError) -> None:
    """Put the error's texts at the fields that its pointers name (/email), else at the head of the form."""
    for item in error.errors:
        name = item.pointer.strip("/").partition("/")[0]
        form.add_error(name if name in form.fields else None, said(item.message))
    if not error.errors:
        form.add_error(None, said(error.message))
