"""The one page action of core: choosing the theme without a script."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.core.errors import Invalid

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
_YEAR_S = 365 * 24 * 3600


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Keep the theme of this browser in a cookie, and go back to where the choice was made.

    Raises Invalid for a theme that is none.
    """
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        raise Invalid(code="theme", theme=theme)
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        back = "/"
    response = HttpResponseRedirect(back)
    response.set_cookie(
        THEME_COOKIE, theme, max_age=_YEAR_S, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
    )
    return response
