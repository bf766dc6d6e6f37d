"""Pages of people: signing in and out."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpResponse

from apps.accounts.middleware import AUTHENTICATED_AT
from apps.core import clock


class SignIn(LoginView):
    """Sign in with email and password."""

    template_name = "registration/login.html"

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        self.request.session[AUTHENTICATED_AT] = clock.now().timestamp()
        return response


class SignOut(LogoutView):
    """Sign out."""
