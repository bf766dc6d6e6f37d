"""A check says which matrix of the whole cluster held beneath the domain's own."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("environments", "0001_matrices_facts_drift")]

    operations = [
        migrations.AddField(
            model_name="driftcheck",
            name="wide_version",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="environments.matrixversion",
            ),
        ),
    ]
