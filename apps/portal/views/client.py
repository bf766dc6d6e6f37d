"""The node client to take away; it holds no secret, so nobody has to sign in for it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from apps.portal import client


def snp(request: HttpRequest) -> HttpResponse:
    """The client as one file of Python, with its digest as ETag."""
    response = HttpResponse(client.source(), content_type="text/x-python; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="snp.py"'
    response["ETag"] = f'"{client.sha256()}"'
    return response
