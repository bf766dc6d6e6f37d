"""What a form says where a name has to be typed, so that nobody does a grave thing in passing."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _


def typed_to_confirm(name: str) -> SafeString:
    """The help text of the field: the name stands apart as what is to be typed, and nothing in it is markup."""
    return format_html(_("Type {name} to confirm."), name=format_html("<code>{}</code>", name))
