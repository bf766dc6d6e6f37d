"""The tables of changes: changes and rollbacks."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("environments", "0001_matrices_facts_drift"),
        ("fleet", "0001_fleet_and_holds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Change",
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
                            ("driver", "driver"),
                            ("firmware", "firmware"),
                            ("nccl", "NCCL"),
                            ("framework", "framework"),
                            ("system", "operating system"),
                            ("scheduler", "scheduler policy"),
                            ("topology", "topology"),
                            ("expansion", "expansion"),
                            ("rollback", "rollback"),
                        ],
                        max_length=12,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("reason", models.TextField()),
                ("back_out", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("submitted", "submitted"),
                            ("approved", "approved"),
                            ("running", "running"),
                            ("verifying", "verifying"),
                            ("done", "done"),
                            ("refused", "refused"),
                            ("failed", "failed"),
                            ("rolled_back", "rolled back"),
                            ("cancelled", "cancelled"),
                        ],
                        default="draft",
                        max_length=12,
                    ),
                ),
                ("content_digest", models.CharField(max_length=64)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("edited_at", models.DateTimeField(null=True)),
                ("approvals_needed", models.PositiveSmallIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("submitted_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_reason", models.TextField(blank=True)),
                ("origin_label", models.CharField(blank=True, max_length=200)),
                ("origin_path", models.CharField(blank=True, db_index=True, max_length=200)),
                ("reviewed_at", models.DateTimeField(null=True)),
                ("review", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.cluster"
                    ),
                ),
                (
                    "domain",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.domain"
                    ),
                ),
                (
                    "executor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "last_editor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "requester",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "restores_version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="environments.matrixversion",
                    ),
                ),
                (
                    "reverses",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rollbacks",
                        to="changes.change",
                    ),
                ),
                (
                    "reviewed_by",
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
            },
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content_digest", models.CharField(max_length=64)),
                ("approves", models.BooleanField()),
                ("note", models.TextField(blank=True)),
                ("at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "change",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="changes.change",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("taken_at", models.DateTimeField()),
                ("body", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                (
                    "change",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="snapshot",
                        to="changes.change",
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
        ),
        migrations.CreateModel(
            name="Stage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("name", models.CharField(max_length=80)),
                ("soak_s", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("running", "running"), ("passed", "passed")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("started_at", models.DateTimeField(null=True)),
                ("reached_at", models.DateTimeField(null=True)),
                ("passed_at", models.DateTimeField(null=True)),
                (
                    "change",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stages",
                        to="changes.change",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="Target",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("component", models.CharField(max_length=60)),
                ("values", models.JSONField()),
                ("before", models.CharField(blank=True, max_length=300)),
                ("reached_at", models.DateTimeField(null=True)),
                (
                    "change",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="targets",
                        to="changes.change",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.node"
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="targets",
                        to="changes.stage",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddIndex(
            model_name="change",
            index=models.Index(fields=["domain", "state"], name="changes_domain_state"),
        ),
        migrations.AddConstraint(
            model_name="change",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("reviewed_by__isnull", True),
                    models.Q(("reviewed_by", models.F("requester")), _negated=True),
                    _connector="OR",
                ),
                name="changes_review_by_another",
            ),
        ),
        migrations.AddConstraint(
            model_name="change",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind", "rollback"),
                    models.Q(("restores_version__isnull", True), ("reverses__isnull", True)),
                    _connector="OR",
                ),
                name="changes_only_rollbacks_restore",
            ),
        ),
        migrations.AddConstraint(
            model_name="approval",
            constraint=models.UniqueConstraint(
                fields=("change", "person", "content_digest"), name="changes_one_voice_each"
            ),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.UniqueConstraint(fields=("change", "number"), name="changes_stage_number"),
        ),
        migrations.AddIndex(
            model_name="target",
            index=models.Index(fields=["node", "change"], name="changes_target_node"),
        ),
        migrations.AddConstraint(
            model_name="target",
            constraint=models.UniqueConstraint(
                fields=("change", "node", "component"), name="changes_target_once"
            ),
        ),
    ]
