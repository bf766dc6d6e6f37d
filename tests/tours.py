"""Which addresses show pages of the same kind, so that a tour opens one of each."""

from __future__ import annotations

from urllib.parse import parse_qs

from django.urls import resolve

SAME_PAGE = {"sort", "page", "per_page"}  # they order or cut what is shown


def kind_of(address: str) -> tuple[str, ...]:
    """The view behind an address and the names in its query."""
    path, _, query = address.partition("?")
    return resolve(path).view_name, *sorted(set(parse_qs(query, keep_blank_values=True)) - SAME_PAGE)
