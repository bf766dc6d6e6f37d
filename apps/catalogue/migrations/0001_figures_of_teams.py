"""The tables of catalogue: figures of teams."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_people_scopes_tokens"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CatalogueEdit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=12)),
                ("entry", models.CharField(max_length=80)),
                ("path", models.CharField(max_length=80)),
                ("value", models.JSONField(null=True)),
                ("source", models.CharField(max_length=300)),
                ("confidence", models.CharField(max_length=20)),
                ("edited_label", models.CharField(max_length=200)),
                ("edited_at", models.DateTimeField()),
                (
                    "edited_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "scope",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.scope",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("scope__isnull", False)),
                        fields=("scope", "kind", "entry", "path"),
                        name="catalogue_edit_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("scope__isnull", True)),
                        fields=("kind", "entry", "path"),
                        name="catalogue_edit_once_everywhere",
                    ),
                ],
            },
        ),
    ]
