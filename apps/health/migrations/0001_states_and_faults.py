"""The tables of health: states and faults."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("fleet", "0001_fleet_and_holds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="MaintenanceTask",
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
                        choices=[
                            ("coolant_level", "coolant level"),
                            ("coolant_quality", "coolant concentration"),
                            ("fittings", "fittings and hoses"),
                            ("cold_plates", "cold plates"),
                            ("other", "other"),
                        ],
                        max_length=20,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("every_days", models.PositiveIntegerField()),
                ("due_on", models.DateField()),
                ("downgrade_path", models.TextField(blank=True)),
                ("retired_at", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.cluster"
                    ),
                ),
                (
                    "domain",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="fleet.domain",
                    ),
                ),
            ],
            options={
                "ordering": ["due_on", "id"],
            },
        ),
        migrations.CreateModel(
            name="MaintenanceRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("due_on", models.DateField()),
                ("done_on", models.DateField()),
                ("note", models.CharField(max_length=500)),
                ("recorded_at", models.DateTimeField()),
                (
                    "done_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="records",
                        to="health.maintenancetask",
                    ),
                ),
            ],
            options={
                "ordering": ["-done_on", "-id"],
            },
        ),
        migrations.CreateModel(
            name="MetricsSource",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.URLField(max_length=500)),
                ("host_label", models.CharField(default="Hostname", max_length=60)),
                ("enabled", models.BooleanField(default=True)),
                ("asked_at", models.DateTimeField(null=True)),
                ("host_count", models.PositiveIntegerField(default=0)),
                ("error", models.CharField(blank=True, max_length=300)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.cluster"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RuleSetting",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rule", models.CharField(max_length=60)),
                ("enabled", models.BooleanField(default=True)),
                ("warn", models.FloatField(null=True)),
                ("fail", models.FloatField(null=True)),
                ("reason", models.CharField(max_length=300)),
                ("changed_at", models.DateTimeField()),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "changed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="fleet.cluster",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FaultRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=10)),
                ("code", models.PositiveIntegerField()),
                ("device", models.CharField(blank=True, max_length=60)),
                ("severity", models.CharField(max_length=10)),
                ("action", models.CharField(max_length=40)),
                ("action_class", models.CharField(max_length=20)),
                ("cordon", models.BooleanField()),
                ("text", models.CharField(max_length=400)),
                ("line", models.PositiveIntegerField()),
                ("count", models.PositiveIntegerField(default=1)),
                ("at_text", models.CharField(blank=True, max_length=60)),
                ("events", models.JSONField(default=list)),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                ("sha256", models.CharField(max_length=64)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("resolution", models.CharField(blank=True, max_length=300)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.node"
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-last_seen_at", "-id"],
                "indexes": [models.Index(fields=["node", "resolved_at"], name="health_open_faults")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("resolved_at__isnull", True)),
                        fields=("node", "kind", "code", "device"),
                        name="health_open_fault_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HealthPolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("automatic_quarantine", models.BooleanField(default=False)),
                ("most_share", models.FloatField(default=0.1)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.cluster"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "health policies",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("most_share__gte", 0), ("most_share__lte", 1)),
                        name="health_share",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HealthState",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rule", models.CharField(max_length=60)),
                ("device", models.CharField(blank=True, max_length=60)),
                ("recent", models.JSONField(default=list)),
                ("verdict", models.CharField(max_length=8)),
                ("value", models.FloatField(null=True)),
                ("detail", models.CharField(blank=True, max_length=200)),
                ("observed_at", models.DateTimeField()),
                ("since", models.DateTimeField()),
                ("sha256", models.CharField(max_length=64)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.node"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["node", "verdict"], name="health_state_verdict")],
                "constraints": [
                    models.UniqueConstraint(fields=("node", "rule", "device"), name="health_state_once")
                ],
            },
        ),
        migrations.AddIndex(
            model_name="maintenancetask",
            index=models.Index(fields=["cluster", "due_on"], name="health_upkeep_due"),
        ),
        migrations.AddConstraint(
            model_name="rulesetting",
            constraint=models.UniqueConstraint(
                condition=models.Q(("cluster__isnull", False)),
                fields=("rule", "cluster"),
                name="health_rule_of_cluster",
            ),
        ),
        migrations.AddConstraint(
            model_name="rulesetting",
            constraint=models.UniqueConstraint(
                condition=models.Q(("cluster__isnull", True)), fields=("rule",), name="health_rule_everywhere"
            ),
        ),
    ]
