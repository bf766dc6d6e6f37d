"""Pages of one's own: preferences, password, tokens."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from apps.accounts import forms, queries, services
from apps.accounts.services import limits
from apps.accounts.views.session import mark_authenticated, with_language
from apps.core import clock, form_errors
from apps.core.errors import Invalid
from apps.core.pages import actor_of
from apps.core.rights import TokenScope
from apps.core.views import THEME_COOKIE, THEMES, with_theme


def preferences(request: HttpRequest) -> HttpResponse:
    """Name, language, time zone, theme and shortcuts."""
    actor = actor_of(request)
    person = queries.person(actor.require_person_present(), actor=actor)
    initial = {
        "name": person.name,
        "language": person.language,
        "time_zone": person.time_zone,
        "shortcuts": person.shortcuts,
        "theme": request.COOKIES.get(THEME_COOKIE, THEMES[0]),
    }
    form = forms.PreferencesForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        theme = values.pop("theme")
        try:
            person = services.save_preferences(**values, actor=actor)
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("Your preferences are saved."))
            response = with_language(redirect("accounts:preferences"), person)
            if not person.language:
                response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
            return with_theme(response, theme)
    context = {"form": form, "person": person, "grants": queries.grants_of(person)}
    return render(request, "accounts/preferences.html", context)


@sensitive_post_parameters()
@never_cache
def change_password(request: HttpRequest) -> HttpResponse:
    """A new password; other sessions end."""
    actor = actor_of(request)
    person_id = actor.require_person_present()
    form = forms.PasswordChangeForm(request.POST or None)
    if request.method == "POST":
        limits.take_confirmation(person_id=person_id)
        if form.is_valid():
            values = form.cleaned_data
            try:
                person = services.change_password(
                    current=values["current"], new=values["password"], actor=actor
                )
            except Invalid as error:
                form_errors.show(form, error)
            else:
                update_session_auth_hash(request, person)
                mark_authenticated(request)
                messages.success(request, _("Your password is changed; other sessions have ended."))
                return redirect("accounts:preferences")
    return render(request, "registration/password_change.html", {"form": form})


def tokens(request: HttpRequest) -> HttpResponse:
    """One's own tokens, and how to make one."""
    actor = actor_of(request)
    return _tokens_page(request, person_id=actor.require_person_present(), form=None)


def person_tokens(request: HttpRequest, person_id: int) -> HttpResponse:
    """The tokens of a service account, and how to make one."""
    return _tokens_page(request, person_id=person_id, form=None)


@never_cache
@require_POST
def create_token(request: HttpRequest, person_id: int) -> HttpResponse:
    """Make a token, and show it this once."""
    actor = actor_of(request)
    form = forms.TokenForm(request.POST, actor=actor)
    if not form.is_valid():
        return _tokens_page(request, person_id=person_id, form=form)
    values = form.cleaned_data
    try:
        token, bearer = services.create_token(
            name=values["name"],
            person_id=person_id,
            scopes=[TokenScope(scope) for scope in values["scopes"]],
            cluster_scope_ids=[int(pk) for pk in values["clusters"]] or None,
            days=values["days"],
            actor=actor,
        )
    except Invalid as error:
        form_errors.show(form, error)
        return _tokens_page(request, person_id=person_id, form=form)
    return render(request, "accounts/token_made.html", {"token": token, "bearer": bearer})


@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """Make a token worthless."""
    token = services.revoke_token(
        token_id=token_id, actor=actor_of(request), reason=request.POST.get("reason", "")[:500]
    )
    messages.success(request, _("The token %(name)s is revoked.") % {"name": token.name})
    if token.person_id == actor_of(request).person_id:
        return redirect("accounts:tokens")
    return redirect("accounts:person", token.person_id)


def _tokens_page(request: HttpRequest, *, person_id: int, form: forms.TokenForm | None) -> HttpResponse:
    actor = actor_of(request)
    owner = queries.token_owner(person_id, actor=actor)
    context = {
        "owner": owner,
        "own": owner.pk == actor.person_id,
        "tokens": queries.tokens_visible_to(actor).filter(person=owner),
        "form": form or forms.TokenForm(actor=actor),
        "now": clock.now(),
    }
    return render(request, "accounts/tokens.html", context)
