"""What a database of an earlier release may hold that this one does not allow."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.management.base import CommandError
from django.db import connection

from apps.core import clock, triggers
from apps.environments.models import Matrix
from tests import factories

MIGRATION = import_module("apps.environments.migrations.0003_one_matrix_each")


def _matrix(home: Any, name: str) -> Matrix:
    return Matrix.objects.create(cluster=home.cluster, domain=home, name=name, created_at=clock.now())


@pytest.mark.django_db
def test_several_matrices_of_one_home_are_named_with_what_to_do(domain: Any) -> None:
    triggers.lift(using="default", plan=[MIGRATION])
    with connection.cursor() as cursor:
        for index in ("environments_matrix_of_domain", "environments_matrix_of_cluster"):
            cursor.execute(f"DROP INDEX {index}")
    homes = [domain, *(factories.domain(domain.cluster, name) for name in ("b", "c", "d"))]
    first, second, wide, wider = (_matrix(home, f"of {home.name}") for home in homes)
    MIGRATION.refuse_several(apps, None)

    Matrix.objects.filter(pk=second.pk).update(domain=domain)
    Matrix.objects.filter(pk__in=[wide.pk, wider.pk]).update(domain=None)
    with pytest.raises(CommandError) as refused:
        MIGRATION.refuse_several(apps, None)

    said = str(refused.value)
    assert f"sn of hall-1: of sn (id {first.pk}), of b (id {second.pk})" in said
    assert f"the whole cluster of hall-1: of c (id {wide.pk}), of d (id {wider.pk})" in said
    assert "UPDATE environments_matrix SET domain_id" in said
