"""A finding may be of a domain as a whole, such as that nothing is asked of it."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("environments", "0003_one_matrix_each")]

    operations = [
        migrations.AlterField(
            model_name="driftfinding",
            name="node",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.node"
            ),
        ),
        migrations.AlterField(
            model_name="driftfinding",
            name="component",
            field=models.CharField(blank=True, max_length=60),
        ),
        migrations.AddConstraint(
            model_name="driftfinding",
            constraint=models.UniqueConstraint(
                condition=models.Q(("node__isnull", True), ("resolved_at__isnull", True)),
                fields=("domain", "kind"),
                name="environments_finding_of_domain_once",
            ),
        ),
    ]
