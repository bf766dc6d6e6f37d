"""How long raw bytes are kept, for each cluster and kind."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_people_scopes_tokens"),
        ("evidence", "0002_receipts_count_repeats"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeepPolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("keep_days", models.PositiveIntegerField(null=True)),
                ("kinds", models.JSONField(default=dict)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "scope",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.scope"
                    ),
                ),
            ],
            options={"verbose_name_plural": "keep policies"},
        ),
    ]
