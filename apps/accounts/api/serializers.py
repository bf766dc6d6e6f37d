"""What the API of people takes and gives."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.accounts.models import Invitation, Person, RoleGrant, Token
from apps.accounts.services.invitations import LONGEST, VALID_FOR
from apps.accounts.services.tokens import DEFAULT_DAYS, LONGEST_DAYS
from apps.core.rights import Role, TokenScope

ROLE_CHOICES = [(role.value, role.value) for role in Role]
TOKEN_SCOPE_CHOICES = [(scope.value, scope.value) for scope in TokenScope]
_CLUSTER = "The cluster's slug; null is everywhere."


class PersonRef(serializers.ModelSerializer[Person]):
    class Meta:
        model = Person
        fields = ["id", "name"]


class PersonOut(serializers.ModelSerializer[Person]):
    class Meta:
        model = Person
        fields = ["id", "name", "email", "kind", "is_active", "left_at", "created_at", "last_login"]


class GrantOut(serializers.ModelSerializer[RoleGrant]):
    person = PersonRef()
    role = serializers.ChoiceField(choices=ROLE_CHOICES)
    cluster = serializers.SlugField(source="scope.slug", allow_null=True, default=None, help_text=_CLUSTER)

    class Meta:
        model = RoleGrant
        fields = ["id", "person", "role", "cluster", "granted_at"]


class GrantIn(serializers.Serializer[Any]):
    person_id = serializers.IntegerField(required=False, min_value=1)
    email = serializers.EmailField(
        required=False, help_text="Instead of person_id, for somebody not in sight."
    )
    role = serializers.ChoiceField(choices=ROLE_CHOICES)
    cluster = serializers.SlugField(allow_null=True, help_text=_CLUSTER)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("person_id" in attrs) == ("email" in attrs):
            raise serializers.ValidationError({"person_id": "give either person_id or email"})
        return attrs


class ServiceAccountIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(choices=ROLE_CHOICES)
    cluster = serializers.SlugField(allow_null=True, help_text=_CLUSTER)


class ReasonIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=500)


class TokenOut(serializers.ModelSerializer[Token]):
    person = PersonRef()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=TOKEN_SCOPE_CHOICES))
    clusters = serializers.SerializerMethodField(help_text="Slugs; null is every cluster of the owner.")

    class Meta:
        model = Token
        fields = ["id", "key", "name", "person", "scopes", "clusters"]
        fields += ["created_at", "expires_at", "revoked_at", "last_used_on"]

    @extend_schema_field({"type": ["array", "null"], "items": {"type": "string"}})
    def get_clusters(self, token: Token) -> list[str] | None:
        return None if token.all_clusters else sorted(scope.slug for scope in token.clusters.all())


class NewTokenOut(TokenOut):
    bearer = serializers.CharField(help_text="Shown this once: send it as `Authorization: Bearer …`.")

    class Meta(TokenOut.Meta):
        fields = [*TokenOut.Meta.fields, "bearer"]


class TokenIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    person_id = serializers.IntegerField(
        required=False, min_value=1, help_text="A service account; left out: yourself."
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=TOKEN_SCOPE_CHOICES), min_length=1, max_length=20
    )
    clusters = serializers.ListField(
        child=serializers.SlugField(),
        allow_null=True,
        max_length=200,
        help_text="Slugs, at least one; null is every cluster of the owner, those of later too.",
    )
    days = serializers.IntegerField(min_value=1, max_value=LONGEST_DAYS, default=DEFAULT_DAYS)


class InvitationRole(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=ROLE_CHOICES)
    cluster = serializers.SlugField(allow_null=True, help_text=_CLUSTER)


class InvitationIn(serializers.Serializer[Any]):
    email = serializers.EmailField()
    name = serializers.CharField(max_length=120)
    roles = serializers.ListField(child=InvitationRole(), min_length=1, max_length=50)
    days = serializers.IntegerField(min_value=1, max_value=LONGEST.days, default=VALID_FOR.days)


class InvitationOut(serializers.ModelSerializer[Invitation]):
    invited_by = PersonRef()
    accepted_by = PersonRef(allow_null=True)

    class Meta:
        model = Invitation
        fields = ["id", "email", "name", "invited_by", "created_at", "expires_at"]
        fields += ["accepted_at", "accepted_by", "revoked_at"]


class NewInvitationOut(InvitationOut):
    link = serializers.URLField(help_text="Shown this once; works once.")

    class Meta(InvitationOut.Meta):
        fields = [*InvitationOut.Meta.fields, "link"]


class PreferencesIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    language = serializers.CharField(max_length=10, allow_blank=True)
    time_zone = serializers.CharField(max_length=64, allow_blank=True)
    shortcuts = serializers.BooleanField()


class PreferencesOut(serializers.ModelSerializer[Person]):
    class Meta:
        model = Person
        fields = ["name", "language", "time_zone", "shortcuts"]


class AuthCheckOut(serializers.Serializer[Any]):
    via = serializers.CharField()
    person = PersonRef()
    scopes = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Of the token; null in a browser."
    )
    rights = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Cluster slug (* for everywhere) to rights.",
    )
    expires_at = serializers.DateTimeField(allow_null=True)
