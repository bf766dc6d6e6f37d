"""API of people, roles, tokens and invitations; all that changes something needs a person in a session."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts import filters, queries, services
from apps.accounts.api import serializers as s
from apps.accounts.links import link_of
from apps.accounts.models import Person
from apps.accounts.services.invitations import RoleIn
from apps.accounts.services.roles import grant_role_by_email
from apps.core.actor import EVERYWHERE, Actor
from apps.core.api import NO_STORE, actor_of, checked
from apps.core.rights import Right, Role, TokenScope


def _scope_id(slug: str | None, actor: Actor) -> int | None:
    return None if slug is None else queries.scope_by_slug(slug, actor=actor).pk


class People(generics.ListAPIView):
    """People and service accounts that you administrate."""

    serializer_class = s.PersonOut
    filterset_class = filters.PeopleFilter
    queryset = Person.objects.none()

    def get_queryset(self) -> Any:
        return queries.people_visible_to(actor_of(self.request))


class OnePerson(APIView):
    @extend_schema(responses=s.PersonOut, operation_id="people_retrieve")
    def get(self, request: Request, person_id: int) -> Response:
        """One person, or yourself."""
        return Response(s.PersonOut(queries.person(person_id, actor=actor_of(request))).data)


class Leave(APIView):
    rights = {"POST": Right.ADMIN}

    @extend_schema(request=s.ReasonIn, responses=s.PersonOut, operation_id="people_leave")
    def post(self, request: Request, person_id: int) -> Response:
        """Somebody leaves: sessions end, tokens and invitations are revoked, roles taken."""
        data = checked(s.ReasonIn, request)
        person = services.leave(person_id=person_id, actor=actor_of(request), reason=data["reason"])
        return Response(s.PersonOut(person).data)


class Erase(APIView):
    rights = {"POST": Right.ADMIN}

    @extend_schema(request=s.ReasonIn, responses=s.PersonOut, operation_id="people_erase")
    def post(self, request: Request, person_id: int) -> Response:
        """Replace name and address of somebody who has left."""
        data = checked(s.ReasonIn, request)
        person = services.erase_name(person_id=person_id, actor=actor_of(request), reason=data["reason"])
        return Response(s.PersonOut(person).data)


class ServiceAccounts(APIView):
    rights = {"POST": Right.ADMIN}

    @extend_schema(
        request=s.ServiceAccountIn, responses={201: s.PersonOut}, operation_id="service_accounts_create"
    )
    def post(self, request: Request) -> Response:
        """Add an account that acts by tokens only."""
        actor, data = actor_of(request), checked(s.ServiceAccountIn, request)
        person = services.create_service_account(
            name=data["name"],
            role=Role(data["role"]),
            scope_id=_scope_id(data["cluster"], actor),
            actor=actor,
        )
        return Response(s.PersonOut(person).data, status=201)


class Grants(generics.ListAPIView):
    """Roles in the scopes that you administrate, and your own."""

    rights = {"POST": Right.ADMIN}
    serializer_class = s.GrantOut
    filterset_class = filters.GrantFilter
    queryset = queries.RoleGrant.objects.none()

    def get_queryset(self) -> Any:
        return queries.grants_visible_to(actor_of(self.request))

    @extend_schema(request=s.GrantIn, responses={201: s.GrantOut})
    def post(self, request: Request) -> Response:
        """Give somebody a role in a cluster, or everywhere."""
        actor, data = actor_of(request), checked(s.GrantIn, request)
        scope_id, role = _scope_id(data["cluster"], actor), Role(data["role"])
        if "email" in data:
            grant = grant_role_by_email(email=data["email"], role=role, scope_id=scope_id, actor=actor)
        else:
            grant = services.grant_role(
                person_id=data["person_id"], role=role, scope_id=scope_id, actor=actor
            )
        return Response(s.GrantOut(grant).data, status=201)


class OneGrant(APIView):
    @extend_schema(responses={204: None}, operation_id="role_grants_destroy")
    def delete(self, request: Request, grant_id: int) -> Response:
        """Take a role away."""
        services.revoke_role(grant_id=grant_id, actor=actor_of(request))
        return Response(status=204)


class Tokens(generics.ListAPIView):
    """Your tokens, and those of the service accounts that you administrate."""

    serializer_class = s.TokenOut
    filterset_class = filters.TokenFilter
    queryset = queries.Token.objects.none()

    def get_queryset(self) -> Any:
        return queries.tokens_visible_to(actor_of(self.request))

    @extend_schema(request=s.TokenIn, responses={201: s.NewTokenOut})
    def post(self, request: Request) -> Response:
        """Make a token; its bearer text is in this answer only."""
        actor, data = actor_of(request), checked(s.TokenIn, request)
        slugs = data["clusters"]
        token, bearer = services.create_token(
            name=data["name"],
            person_id=data.get("person_id") or actor.require_person_present(),
            scopes=[TokenScope(scope) for scope in data["scopes"]],
            cluster_scope_ids=None
            if slugs is None
            else [queries.scope_by_slug(slug, actor=actor).pk for slug in slugs],
            days=data["days"],
            actor=actor,
        )
        token.bearer = bearer  # type: ignore[attr-defined]
        return Response(s.NewTokenOut(token).data, status=201, headers=NO_STORE)


class OneToken(APIView):
    @extend_schema(responses=s.TokenOut, operation_id="tokens_retrieve")
    def get(self, request: Request, token_id: int) -> Response:
        """One token, without its secret."""
        token = generics.get_object_or_404(queries.tokens_visible_to(actor_of(request)), pk=token_id)
        return Response(s.TokenOut(token).data)

    @extend_schema(responses={204: None}, operation_id="tokens_destroy")
    def delete(self, request: Request, token_id: int) -> Response:
        """Make a token worthless at once; the row stays."""
        services.revoke_token(token_id=token_id, actor=actor_of(request))
        return Response(status=204)


class Invitations(generics.ListAPIView):
    """Your invitations; for administrators of everywhere all."""

    rights = {"POST": Right.ADMIN}
    serializer_class = s.InvitationOut
    queryset = queries.Invitation.objects.none()
    ordering = "-id"

    def get_queryset(self) -> Any:
        return queries.invitations_visible_to(actor_of(self.request))

    @extend_schema(request=s.InvitationIn, responses={201: s.NewInvitationOut})
    def post(self, request: Request) -> Response:
        """Ask somebody to join; the link is in this answer only."""
        actor, data = actor_of(request), checked(s.InvitationIn, request)
        invitation, secret = services.invite(
            email=data["email"],
            name=data["name"],
            roles=[RoleIn(Role(item["role"]), _scope_id(item["cluster"], actor)) for item in data["roles"]],
            valid_for=timedelta(days=data["days"]),
            actor=actor,
        )
        invitation.link = link_of(secret)  # type: ignore[attr-defined]
        return Response(s.NewInvitationOut(invitation).data, status=201, headers=NO_STORE)


class OneInvitation(APIView):
    @extend_schema(responses={204: None}, operation_id="invitations_destroy")
    def delete(self, request: Request, invitation_id: int) -> Response:
        """Make the link worthless; the row stays."""
        services.revoke_invitation(invitation_id=invitation_id, actor=actor_of(request))
        return Response(status=204)


class Preferences(APIView):
    @extend_schema(responses=s.PreferencesOut, operation_id="preferences_retrieve")
    def get(self, request: Request) -> Response:
        """How you like the pages."""
        person_id = actor_of(request).require_person_present()
        return Response(s.PreferencesOut(queries.person(person_id, actor=actor_of(request))).data)

    @extend_schema(request=s.PreferencesIn, responses=s.PreferencesOut, operation_id="preferences_update")
    def put(self, request: Request) -> Response:
        """Change how you like the pages."""
        person = services.save_preferences(**checked(s.PreferencesIn, request), actor=actor_of(request))
        return Response(s.PreferencesOut(person).data)


class AuthCheck(APIView):
    any_token = True

    @extend_schema(responses=s.AuthCheckOut, operation_id="auth_check")
    def get(self, request: Request) -> Response:
        """Who you are to the portal, what you may do where, and until when."""
        actor = actor_of(request)
        person = queries.person(actor.person_id or 0, actor=actor)
        slugs = {scope.pk: scope.slug for scope in queries.scopes_visible_to(actor)} | {EVERYWHERE: "*"}
        token = queries.tokens_visible_to(actor).filter(key=actor.token_key).first()
        answer = {
            "via": actor.via.value,
            "person": person,
            "scopes": None if actor.token_scopes is None else sorted(actor.token_scopes),
            "rights": {
                slugs[scope_id]: sorted(rights)
                for scope_id, rights in actor.rights.items()
                if scope_id in slugs
            },
            "expires_at": token.expires_at if token is not None else None,
        }
        return Response(s.AuthCheckOut(answer).data)
