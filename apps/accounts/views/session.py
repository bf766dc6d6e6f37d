"""Pages around the session: signing in and out, confirming the password, joining by invitation."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from apps.accounts import forms, queries, services
from apps.accounts.middleware import AUTHENTICATED_AT, actor_in_session, client_ip
from apps.accounts.models import Person
from apps.accounts.services import limits
from apps.core import clock, form_errors, problems
from apps.core.errors import Conflict, Invalid
from apps.core.pages import actor_of, safe_next

BACKEND = "apps.accounts.backends.PeopleBackend"


class SignIn(LoginView):
    """Sign in with email and password."""

    template_name = "registration/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        limits.take_sign_in(email=request.POST.get("username", ""), ip=client_ip(request))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        mark_authenticated(self.request)
        return with_language(response, form.get_user())


@sensitive_post_parameters()
@never_cache
def reauthenticate(request: HttpRequest) -> HttpResponse:
    """Give the password again before a decision that is recorded under one's name."""
    actor = actor_of(request)
    person = Person.objects.get(pk=actor.require_person_present())
    back = safe_next(request)
    form = forms.ConfirmPasswordForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        limits.take_confirmation(person_id=person.pk)
        if form.is_valid() and person.check_password(form.cleaned_data["password"]):
            mark_authenticated(request)
            return redirect(back)
        form.add_error("password", _("This is not your password."))
    return render(request, "registration/reauthenticate.html", {"form": form, "next": back})


@sensitive_post_parameters()
@never_cache
def accept_invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Somebody who was invited chooses a password, and is signed in."""
    limits.take(f"invitation:{client_ip(request)}", limit=60, window_s=limits.SIGN_IN_WINDOW_S)
    invitation = queries.invitation_behind(secret)
    form = forms.AcceptInvitationForm(request.POST or None, initial={"name": invitation.name})
    if request.method == "POST" and form.is_valid():
        try:
            person = services.accept_invitation(
                secret=secret,
                name=form.cleaned_data["name"],
                password=form.cleaned_data["password"],
                ip=client_ip(request),
                request_id=problems.request_id(request),
            )
        except (Invalid, Conflict) as error:
            form_errors.show(form, error)
        else:
            login(request, person, backend=BACKEND)
            mark_authenticated(request)
            messages.success(request, _("Welcome. Your account is ready."))
            return redirect(settings.LOGIN_REDIRECT_URL)
    return render(request, "registration/invitation.html", {"form": form, "invitation": invitation})


def mark_authenticated(request: HttpRequest) -> None:
    """The password was given in this session just now."""
    request.session[AUTHENTICATED_AT] = clock.now().timestamp()
    services.note_sign_in(actor=actor_in_session(request))


def with_language(response: HttpResponse, person: Person) -> HttpResponse:
    """The response with the cookie of the language that the person prefers."""
    if person.language:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            person.language,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            samesite=settings.LANGUAGE_COOKIE_SAMESITE,
        )
    return response


sign_in = method_decorator(never_cache, name="dispatch")(SignIn).as_view()
sign_out = LogoutView.as_view()
