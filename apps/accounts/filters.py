"""Filters of lists of people, roles and tokens, for pages and API alike."""

from __future__ import annotations

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Person, PersonKind, RoleGrant, Token
from apps.core.filtering import WholeNumberFilter, YesNoFilter, of_cluster
from apps.core.rights import Role


class PeopleFilter(django_filters.FilterSet):
    """People by name or address, kind, and whether they are still here."""

    q = django_filters.CharFilter(method="by_text", label=_("Name or email"))
    kind = django_filters.ChoiceFilter(choices=PersonKind.choices, label=_("Kind"))
    is_active = django_filters.ChoiceFilter(
        choices=[("true", _("active")), ("false", _("has left"))],
        method="by_presence",
        label=_("State"),
    )

    class Meta:
        model = Person
        fields: list[str] = []

    def by_presence(self, people: QuerySet[Person], name: str, value: str) -> QuerySet[Person]:
        return people.filter(is_active=value == "true")

    def by_text(self, people: QuerySet[Person], name: str, text: str) -> QuerySet[Person]:
        return people.filter(Q(name__icontains=text) | Q(email__icontains=text))


class GrantFilter(django_filters.FilterSet):
    """Roles by person, role, and the cluster in which they hold."""

    person = WholeNumberFilter(field_name="person_id", label=_("Person"))
    role = django_filters.ChoiceFilter(choices=[(role.value, role.value) for role in Role], label=_("Role"))
    cluster = of_cluster("scope")

    class Meta:
        model = RoleGrant
        fields: list[str] = []


class TokenFilter(django_filters.FilterSet):
    """Tokens by owner, and whether they were revoked."""

    person = WholeNumberFilter(field_name="person_id", label=_("Person"))
    revoked = YesNoFilter(field_name="revoked_at", lookup_expr="isnull", exclude=True, label=_("Revoked"))

    class Meta:
        model = Token
        fields: list[str] = []
