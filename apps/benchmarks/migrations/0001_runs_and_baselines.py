"""The tables of benchmarks: runs and baselines."""

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
            name="BenchmarkRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("place", models.PositiveSmallIntegerField(default=0)),
                ("tool", models.CharField(max_length=40)),
                ("tool_version", models.CharField(blank=True, max_length=80)),
                ("collective", models.CharField(blank=True, max_length=40)),
                ("dtype", models.CharField(blank=True, max_length=20)),
                ("ranks", models.PositiveIntegerField(null=True)),
                ("node_count", models.PositiveIntegerField(null=True)),
                ("gpu_model", models.CharField(blank=True, max_length=120)),
                ("status", models.CharField(max_length=12)),
                ("max_size_bytes", models.BigIntegerField(null=True)),
                ("busbw_bytes_per_s", models.FloatField(null=True)),
                ("wrong_total", models.BigIntegerField(null=True)),
                ("points", models.JSONField(default=list)),
                ("candidates", models.JSONField(default=list)),
                ("doubts", models.JSONField(default=list)),
                ("received_at", models.DateTimeField(db_index=True)),
                ("domain_accelerators", models.PositiveIntegerField(null=True)),
                ("versions_digest", models.CharField(blank=True, max_length=64)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.cluster"
                    ),
                ),
                (
                    "collective_stated_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                (
                    "matrix_version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="environments.matrixversion",
                    ),
                ),
                ("nodes", models.ManyToManyField(related_name="+", to="fleet.node")),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Baseline",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("collective", models.CharField(max_length=40)),
                ("set_at", models.DateTimeField()),
                ("replaced_at", models.DateTimeField(null=True)),
                (
                    "domain",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.domain"
                    ),
                ),
                (
                    "set_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="benchmarks.benchmarkrun",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.AddIndex(
            model_name="benchmarkrun",
            index=models.Index(fields=["domain", "-id"], name="benchmarks_newest"),
        ),
        migrations.AddConstraint(
            model_name="benchmarkrun",
            constraint=models.UniqueConstraint(
                fields=("cluster", "sha256", "place"), name="benchmarks_run_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="baseline",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replaced_at__isnull", True)),
                fields=("domain", "collective"),
                name="benchmarks_one_baseline",
            ),
        ),
    ]
