"""The tables of evidence: receipts and readings."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_people_scopes_tokens"),
        ("jobs", "0001_jobs_schedules_keys_webhooks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Evidence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("size_bytes", models.BigIntegerField()),
                ("stored_at", models.DateTimeField()),
                ("thinned_at", models.DateTimeField(null=True)),
                ("pinned", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="EvidenceReading",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(db_index=True, max_length=40)),
                ("parser_version", models.PositiveSmallIntegerField()),
                ("facts", models.JSONField()),
                ("warnings", models.JSONField(default=list)),
                ("read_at", models.DateTimeField()),
                (
                    "evidence",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="readings",
                        to="evidence.evidence",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Receipt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("received_at", models.DateTimeField(db_index=True)),
                ("file_name", models.CharField(blank=True, max_length=255)),
                ("node_name", models.CharField(blank=True, max_length=255)),
                ("collected_at", models.DateTimeField(null=True)),
                ("sha256", models.CharField(db_index=True, max_length=64)),
                ("size_bytes", models.BigIntegerField()),
                ("kind", models.CharField(blank=True, max_length=40)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("stored", "stored"),
                            ("applied", "applied"),
                            ("unmatched", "unmatched"),
                            ("refused", "refused"),
                        ],
                        max_length=10,
                    ),
                ),
                ("refusal_code", models.CharField(blank=True, max_length=40)),
                ("refusal", models.CharField(blank=True, max_length=500)),
                ("effects", models.JSONField(default=list)),
                ("via", models.CharField(max_length=20)),
                ("by_label", models.CharField(max_length=200)),
                ("repeated", models.BooleanField(default=False)),
                (
                    "evidence",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="receipts",
                        to="evidence.evidence",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="jobs.job",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "reading",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evidence.evidencereading",
                    ),
                ),
                (
                    "scope",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.scope"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.AddConstraint(
            model_name="evidencereading",
            constraint=models.UniqueConstraint(
                fields=("evidence", "kind", "parser_version"), name="evidence_read_once"
            ),
        ),
        migrations.AddIndex(
            model_name="receipt",
            index=models.Index(fields=["scope", "-id"], name="evidence_scope_newest"),
        ),
        migrations.AddIndex(
            model_name="receipt",
            index=models.Index(fields=["scope", "node_name", "kind", "-id"], name="evidence_node_newest"),
        ),
        migrations.AddIndex(
            model_name="receipt",
            index=models.Index(
                condition=models.Q(("state", "unmatched")), fields=["scope"], name="evidence_unmatched"
            ),
        ),
        migrations.AddConstraint(
            model_name="receipt",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("evidence__isnull", True), ("state", "refused")),
                    models.Q(("state", "refused"), _negated=True),
                    _connector="OR",
                ),
                name="evidence_refused_keeps_nothing",
            ),
        ),
    ]
