"""A domain has one matrix, and so has a cluster as a whole."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("environments", "0002_cluster_matrix_beneath")]

    operations = [
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
