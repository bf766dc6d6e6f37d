"""A domain has one matrix, and so has a cluster as a whole."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.db import migrations, models
from django.db.models import Count

_WAY_OUT = (
    "Keep the one that is in force, give each other one a domain that has none (a new one if need be; retire it "
    "afterwards), and migrate again: "
    "UPDATE environments_matrix SET domain_id = <id of that domain> WHERE id = <id of the matrix>"
)


def refuse_several(apps: Any, _schema_editor: Any) -> None:
    """Name what has several matrices, and say what to do, where the constraints below could not be set."""
    matrices = apps.get_model("environments", "Matrix").objects
    homes = matrices.values("cluster__slug", "domain__name", "cluster_id", "domain_id")
    several = (
        homes.annotate(number=Count("pk")).filter(number__gt=1).order_by("cluster__slug", "domain__name")
    )
    found = [f"{_home(one)}: {_named(matrices, one)}" for one in several]
    if found:
        raise CommandError(
            "From this release on a domain has one matrix, and so has a cluster as a whole. There are more: "
            f"{'; '.join(found)}. Nothing was changed. {_WAY_OUT}"
        )


def _home(row: dict[str, Any]) -> str:
    return f"{row['domain__name'] or 'the whole cluster'} of {row['cluster__slug']}"


def _named(matrices: Any, row: dict[str, Any]) -> str:
    of_home = matrices.filter(cluster=row["cluster_id"], domain=row["domain_id"]).order_by("pk")
    return ", ".join(f"{matrix.name} (id {matrix.pk})" for matrix in of_home)


class Migration(migrations.Migration):
    dependencies = [("environments", "0002_cluster_matrix_beneath")]

    operations = [
        migrations.RunPython(refuse_several, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="matrix",
            constraint=models.UniqueConstraint(
                condition=models.Q(("domain__isnull", False)),
                fields=("domain",),
                name="environments_matrix_of_domain",
            ),
        ),
        migrations.AddConstraint(
            model_name="matrix",
            constraint=models.UniqueConstraint(
                condition=models.Q(("domain__isnull", True)),
                fields=("cluster",),
                name="environments_matrix_of_cluster",
            ),
        ),
    ]
