"""Boards and cards outside of nodes: spares, repairs, what swaps left over."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0003_bulk_imports_and_links_once"),
    ]

    operations = [
        migrations.CreateModel(
            name="Part",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("accelerator", "accelerator"), ("board", "board")], max_length=12
                    ),
                ),
                ("model", models.CharField(blank=True, max_length=120)),
                ("serial", models.CharField(blank=True, max_length=120)),
                ("uuid", models.CharField(blank=True, max_length=80)),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("removed", "taken out"),
                            ("spare", "spare"),
                            ("repair", "in repair"),
                            ("installed", "installed"),
                            ("retired", "retired"),
                        ],
                        max_length=12,
                    ),
                ),
                ("slot", models.CharField(blank=True, max_length=40)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("changed_at", models.DateTimeField()),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.cluster"
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="fleet.node",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("serial", ""), ("uuid", ""), _negated=True),
                        name="fleet_part_identity",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("serial", ""), _negated=True),
                        fields=("cluster", "kind", "serial"),
                        name="fleet_part_serial",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("uuid", ""), _negated=True),
                        fields=("cluster", "kind", "uuid"),
                        name="fleet_part_uuid",
                    ),
                ],
            },
        ),
    ]
