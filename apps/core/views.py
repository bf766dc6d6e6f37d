"""What belongs to no app: choosing the theme without a script, and the icon where browsers look for it unasked."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.http import require_POST, require_safe

from apps.core.errors import Invalid
from apps.core.pages import safe_next

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
_YEAR_S = 365 * 86400


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Keep the theme of this browser in a cookie, and go back to where the choice was made.

    Raises Invalid for a theme that is none.
    """
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        raise Invalid(code="theme", theme=theme)
    return with_theme(HttpResponseRedirect(safe_next(request)), theme)


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """The icon, which has another name with each version of it."""
    return HttpResponseRedirect(static("favicon.svg"))


def with_theme(response: HttpResponse, theme: str) -> HttpResponse:
    """The response with the cookie of a theme."""
    response.set_cookie(
        THEME_COOKIE, theme, max_age=_YEAR_S, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
    )
    return response
