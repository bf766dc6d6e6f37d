"""Pages of administration: people, roles, service accounts, invitations."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.accounts import forms, queries, services
from apps.accounts.filters import PeopleFilter
from apps.accounts.links import link_of
from apps.accounts.services.invitations import RoleIn
from apps.accounts.services.roles import grant_role_by_email
from apps.core import clock, form_errors
from apps.core.administration import tabs
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.paging import page_of
from apps.core.rights import Right, Role

PROBLEMS = (Invalid, Conflict, Missing, NotAllowed)


def people(request: HttpRequest) -> HttpResponse:
    """People and service accounts, with their roles."""
    actor = actor_of(request)
    refuse_unknown(PeopleFilter, request.GET)
    visible = queries.with_grants(queries.people_visible_to(actor), actor=actor)
    found = PeopleFilter(request.GET, queryset=visible.order_by("-is_active", "name"))
    context = {
        "filter": found,
        "page": page_of(request, found.qs),
        "filtered": any(request.GET.get(name) for name in PeopleFilter.get_filters()),
        "administration": tabs(actor),
        "invitations": queries.invitations_visible_to(actor).filter(queries.open_invitation(clock.now())),
        "role_form": forms.RoleByEmailForm(actor=actor, auto_id="role-%s"),
        "service_form": forms.ServiceAccountForm(actor=actor, for_service=True, auto_id="service-%s"),
    }
    return render(request, "accounts/people.html", context)


def person(request: HttpRequest, person_id: int) -> HttpResponse:
    """One person: roles, tokens, and what can be decided about them."""
    return _person_page(request, person_id)


def _person_page(request: HttpRequest, person_id: int, **forms_sent: object) -> HttpResponse:
    actor = actor_of(request)
    somebody = queries.person(person_id, actor=actor)
    is_service = somebody.kind == queries.PersonKind.SERVICE
    administrates = actor.may_anywhere(Right.ADMIN)
    context = {
        "person": somebody,
        "grants": queries.grants_visible_to(actor).filter(person=somebody),
        "tokens": queries.tokens_visible_to(actor).filter(person=somebody),
        "manages": administrates and queries.manages(actor, somebody),
        "grant_form": forms.RoleForm(actor=actor, for_service=is_service) if administrates else None,
        "leave_form": forms.ReasonForm(),
        "now": clock.now(),
        **forms_sent,
    }
    return render(request, "accounts/person.html", context)


@require_POST
def grant(request: HttpRequest, person_id: int) -> HttpResponse:
    """Give a role to somebody."""
    actor = actor_of(request)
    form = forms.RoleForm(request.POST, actor=actor)
    if form.is_valid():
        try:
            services.grant_role(
                person_id=person_id,
                role=Role(form.cleaned_data["role"]),
                scope_id=form.cleaned_data["scope"],
                actor=actor,
            )
        except PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The role is given."))
            return redirect("accounts:person", person_id)
    return _person_page(request, person_id, grant_form=form)


@require_POST
def grant_by_email(request: HttpRequest) -> HttpResponse:
    """Give a role to somebody by their address."""
    actor = actor_of(request)
    form = forms.RoleByEmailForm(request.POST, actor=actor)
    if not form.is_valid():
        raise form_errors.refused(form)
    made = grant_role_by_email(
        email=form.cleaned_data["email"],
        role=Role(form.cleaned_data["role"]),
        scope_id=form.cleaned_data["scope"],
        actor=actor,
    )
    messages.success(request, _("The role is given."))
    return redirect("accounts:person", made.person_id)


@require_POST
def revoke(request: HttpRequest, grant_id: int) -> HttpResponse:
    """Take a role away."""
    services.revoke_role(
        grant_id=grant_id, actor=actor_of(request), reason=request.POST.get("reason", "")[:500]
    )
    messages.success(request, _("The role is taken away."))
    return redirect("accounts:people")


@require_POST
def leave(request: HttpRequest, person_id: int) -> HttpResponse:
    """Somebody leaves."""
    form = forms.ReasonForm(request.POST)
    if form.is_valid():
        try:
            services.leave(person_id=person_id, actor=actor_of(request), reason=form.cleaned_data["reason"])
        except PROBLEMS as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("They have left: sessions, tokens and roles have ended."))
            return redirect("accounts:people")
    return _person_page(request, person_id, leave_form=form)


@require_POST
def create_service_account(request: HttpRequest) -> HttpResponse:
    """Add an account that acts by tokens only."""
    actor = actor_of(request)
    form = forms.ServiceAccountForm(request.POST, actor=actor, for_service=True)
    if not form.is_valid():
        raise form_errors.refused(form)
    made = services.create_service_account(
        name=form.cleaned_data["name"],
        role=Role(form.cleaned_data["role"]),
        scope_id=form.cleaned_data["scope"],
        actor=actor,
    )
    messages.success(request, _("The service account is there; make its token now."))
    return redirect("accounts:person_tokens", made.pk)


@never_cache
def invite(request: HttpRequest) -> HttpResponse:
    """Ask somebody to join; the link is shown this once."""
    actor = actor_of(request)
    queries.people_visible_to(actor)
    form = forms.InviteForm(request.POST or None, actor=actor)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        scope_id = values["scope"]
        try:
            invitation, secret = services.invite(
                email=values["email"],
                name=values["name"],
                roles=[RoleIn(Role(role), scope_id) for role in values["roles"]],
                actor=actor,
            )
        except PROBLEMS as error:
            form_errors.show(form, error)
        else:
            context = {"invitation": invitation, "link": link_of(secret)}
            return render(request, "accounts/invited.html", context)
    return render(request, "accounts/invite.html", {"form": form})


@require_POST
def revoke_invitation(request: HttpRequest, invitation_id: int) -> HttpResponse:
    """Make a link worthless."""
    services.revoke_invitation(invitation_id=invitation_id, actor=actor_of(request))
    messages.success(request, _("The link is worthless now."))
    return redirect("accounts:people")
