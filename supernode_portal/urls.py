"""Addresses: each app's pages under its own name, each app's API under /api/v1/."""

from __future__ import annotations

from django.conf import settings
from django.urls import include, path
from django.views.i18n import set_language

from apps.core.views import choose_theme, favicon

_APPS = [name for name in settings.OWN_APPS if name != "core"]
urlpatterns = [
    # First and below one prefix: nodes and CI call it all the time, and pages' addresses are tried one by one.
    path("api/v1/", include([path("", include((f"apps.{name}.api.urls", f"api_{name}"))) for name in _APPS])),
    path("favicon.ico", favicon),
    path("theme/", choose_theme, name="theme"),
    path("language/", set_language, name="set_language"),
    *(path("", include(f"apps.{name}.urls")) for name in _APPS),
]

handler400 = "apps.core.error_pages.bad_request"
handler403 = "apps.core.error_pages.forbidden"
handler404 = "apps.core.error_pages.not_found"
handler500 = "apps.core.error_pages.server_error"
