"""The tables of environments: matrices facts drift."""

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
            name="EnvironmentPolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("stale_after_s", models.PositiveIntegerField()),
                ("check_every_s", models.PositiveIntegerField()),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.cluster"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "environment policies",
            },
        ),
        migrations.CreateModel(
            name="Matrix",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("created_at", models.DateTimeField()),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.cluster"
                    ),
                ),
                (
                    "domain",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="fleet.domain",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "matrices",
            },
        ),
        migrations.CreateModel(
            name="MatrixVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("draft", "draft"), ("locked", "locked"), ("retired", "retired")],
                        default="draft",
                        max_length=8,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("draft_notes", models.JSONField(default=list)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField()),
                ("locked_at", models.DateTimeField(null=True)),
                ("override_reason", models.TextField(blank=True)),
                ("retired_at", models.DateTimeField(null=True)),
                ("known_good_at", models.DateTimeField(null=True)),
                ("known_good_basis", models.JSONField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "locked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "matrix",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="versions",
                        to="environments.matrix",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="MatrixEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("component", models.CharField(max_length=60)),
                ("rule", models.CharField(max_length=16)),
                ("values", models.JSONField(default=list)),
                ("scheme", models.CharField(blank=True, max_length=20)),
                ("branch_depth", models.PositiveSmallIntegerField(null=True)),
                ("note", models.CharField(blank=True, max_length=300)),
                (
                    "matrix_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="environments.matrixversion",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="DriftCheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("first_checked_at", models.DateTimeField()),
                ("checked_at", models.DateTimeField()),
                ("times", models.PositiveIntegerField(default=1)),
                ("verdict", models.CharField(max_length=8)),
                ("input_digest", models.CharField(max_length=64)),
                ("result_digest", models.CharField(max_length=64)),
                ("node_count", models.PositiveIntegerField()),
                ("finding_count", models.PositiveIntegerField()),
                ("components", models.JSONField()),
                ("groups", models.JSONField()),
                ("odd_ones", models.JSONField()),
                ("shortest_boards", models.JSONField()),
                (
                    "domain",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.domain"
                    ),
                ),
                (
                    "matrix_version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="environments.matrixversion",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="NodeFact",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("component", models.CharField(max_length=60)),
                ("standing", models.CharField(max_length=8)),
                ("value", models.CharField(max_length=300)),
                ("count", models.PositiveIntegerField(null=True)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
                ("sha256", models.CharField(max_length=64)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.node"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="NodeReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("facts_digest", models.CharField(max_length=64)),
                ("sha256", models.CharField(max_length=64)),
                ("reported_at", models.DateTimeField()),
                ("received_at", models.DateTimeField()),
                ("clock_skew_s", models.FloatField(null=True)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.node"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ObservedVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("component", models.CharField(max_length=60)),
                ("values", models.JSONField()),
                ("node_count", models.PositiveIntegerField()),
                ("observed_at", models.DateTimeField()),
                (
                    "domain",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.domain"
                    ),
                ),
                (
                    "matrix_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="observed",
                        to="environments.matrixversion",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="CompatibilityEdit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rule", models.CharField(max_length=80)),
                ("definition", models.JSONField(null=True)),
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
            options={
                "ordering": ["rule", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("cluster__isnull", False)),
                        fields=("rule", "cluster"),
                        name="environments_compat_of_cluster",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("cluster__isnull", True)),
                        fields=("rule",),
                        name="environments_compat_everywhere",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DriftFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("component", models.CharField(max_length=60)),
                ("kind", models.CharField(max_length=16)),
                ("outcome", models.CharField(max_length=16)),
                ("reason", models.CharField(max_length=40)),
                ("verdict", models.CharField(max_length=8)),
                ("intended", models.CharField(blank=True, max_length=300)),
                ("reported", models.CharField(blank=True, max_length=300)),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                ("resolved_at", models.DateTimeField(null=True)),
                (
                    "domain",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.domain"
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.node"
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["domain", "resolved_at"], name="environments_open_findings")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("resolved_at__isnull", True)),
                        fields=("node", "component", "kind"),
                        name="environments_finding_open_once",
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="matrix",
            constraint=models.UniqueConstraint(fields=("cluster", "name"), name="environments_matrix_name"),
        ),
        migrations.AddConstraint(
            model_name="matrixversion",
            constraint=models.UniqueConstraint(
                fields=("matrix", "number"), name="environments_version_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="matrixversion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "locked")), fields=("matrix",), name="environments_one_locked"
            ),
        ),
        migrations.AddConstraint(
            model_name="matrixentry",
            constraint=models.UniqueConstraint(
                fields=("matrix_version", "component"), name="environments_entry_once"
            ),
        ),
        migrations.AddIndex(
            model_name="driftcheck",
            index=models.Index(fields=["domain", "-id"], name="environments_check_newest"),
        ),
        migrations.AddIndex(
            model_name="nodefact",
            index=models.Index(fields=["node", "component", "-since"], name="environments_fact_history"),
        ),
        migrations.AddConstraint(
            model_name="nodefact",
            constraint=models.UniqueConstraint(
                condition=models.Q(("until__isnull", True)),
                fields=("node", "kind", "component", "standing", "value"),
                name="environments_fact_current_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="nodereport",
            constraint=models.UniqueConstraint(fields=("node", "kind"), name="environments_report_once"),
        ),
        migrations.AddConstraint(
            model_name="observedversion",
            constraint=models.UniqueConstraint(
                fields=("matrix_version", "domain", "component"), name="environments_observed_once"
            ),
        ),
    ]
