"""Names beside the ids of the audit trail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from apps.accounts.models import Person, Scope


class AccountsDirectory:
    """What audit asks to show and to find people and scopes; see apps.audit.directory."""

    person_model = Person._meta.label_lower

    def people(self, ids: Iterable[int]) -> Mapping[int, str]:
        return dict(Person.objects.filter(pk__in=list(ids)).values_list("pk", "name"))

    def scopes(self, ids: Iterable[int]) -> Mapping[int, str]:
        return dict(Scope.objects.filter(pk__in=list(ids)).values_list("pk", "name"))

    def find_people(self, text: str) -> frozenset[int]:
        people = Person.objects.filter(name__icontains=text) | Person.objects.filter(email__iexact=text)
        return frozenset(people.values_list("pk", flat=True)[:500])

    def find_scope(self, slug: str) -> int | None:
        return Scope.objects.filter(slug=slug).values_list("pk", flat=True).first()
