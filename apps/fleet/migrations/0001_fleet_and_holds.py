"""The tables of fleet: fleet and holds."""

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
            name="Cluster",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=64, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("description", models.TextField(blank=True)),
                ("owner_team", models.CharField(blank=True, max_length=120)),
                ("is_demo", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("retired_at", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "scope",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.scope"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Domain",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("layout", models.CharField(max_length=40)),
                ("topology", models.CharField(max_length=40)),
                ("parameters", models.JSONField(default=dict)),
                ("accelerator_model", models.CharField(max_length=80)),
                ("unidirectional_bytes_per_s", models.FloatField(null=True)),
                ("scale_out_bytes_per_s", models.FloatField(null=True)),
                ("retired_at", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="domains",
                        to="fleet.cluster",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("index", models.PositiveIntegerField(default=0)),
                (
                    "life_cycle",
                    models.CharField(
                        choices=[
                            ("in_service", "in service"),
                            ("spare", "spare"),
                            ("repair", "in repair"),
                            ("retired", "retired"),
                        ],
                        default="in_service",
                        max_length=12,
                    ),
                ),
                (
                    "health",
                    models.CharField(
                        choices=[
                            ("healthy", "healthy"),
                            ("sub_healthy", "sub-healthy"),
                            ("faulty", "faulty"),
                            ("unknown", "unknown"),
                        ],
                        default="unknown",
                        max_length=12,
                    ),
                ),
                ("rack", models.CharField(blank=True, max_length=80)),
                ("position", models.CharField(blank=True, max_length=40)),
                ("serial", models.CharField(blank=True, max_length=120)),
                ("labels", models.JSONField(default=dict)),
                ("last_reported_at", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="nodes", to="fleet.cluster"
                    ),
                ),
                (
                    "domain",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="nodes",
                        to="fleet.domain",
                    ),
                ),
            ],
            options={
                "ordering": ["cluster", "index", "name"],
            },
        ),
        migrations.CreateModel(
            name="Hold",
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
                            ("training", "training"),
                            ("change", "change"),
                            ("maintenance", "maintenance"),
                            ("quarantine", "quarantine"),
                        ],
                        max_length=12,
                    ),
                ),
                ("owner", models.CharField(blank=True, max_length=80)),
                ("reason", models.CharField(max_length=300)),
                ("by_label", models.CharField(max_length=200)),
                ("automatic", models.BooleanField(default=False)),
                ("since", models.DateTimeField()),
                ("released_at", models.DateTimeField(null=True)),
                ("released_by_label", models.CharField(blank=True, max_length=200)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="holds", to="fleet.node"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="HardwareChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slot", models.CharField(max_length=40)),
                ("what", models.CharField(max_length=40)),
                ("before", models.CharField(max_length=200)),
                ("after", models.CharField(max_length=200)),
                ("seen_at", models.DateTimeField()),
                ("sha256", models.CharField(blank=True, max_length=64)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hardware_changes",
                        to="fleet.node",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="NodeAlias",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="fleet.cluster"
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="aliases", to="fleet.node"
                    ),
                ),
            ],
        ),
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
            },
        ),
        migrations.CreateModel(
            name="SubDomain",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("index", models.PositiveIntegerField()),
                (
                    "domain",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sub_domains",
                        to="fleet.domain",
                    ),
                ),
            ],
            options={
                "ordering": ["index"],
            },
        ),
        migrations.CreateModel(
            name="Accelerator",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("index", models.PositiveIntegerField()),
                ("model", models.CharField(blank=True, max_length=120)),
                ("uuid", models.CharField(blank=True, max_length=80)),
                ("serial", models.CharField(blank=True, max_length=80)),
                ("bus_id", models.CharField(blank=True, max_length=20)),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="accelerators",
                        to="fleet.node",
                    ),
                ),
                (
                    "sub_domain",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="accelerators",
                        to="fleet.subdomain",
                    ),
                ),
            ],
            options={
                "ordering": ["node", "index"],
            },
        ),
        migrations.CreateModel(
            name="Switch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("tier", models.PositiveSmallIntegerField(default=1)),
                ("index", models.PositiveIntegerField(default=0)),
                ("ports", models.PositiveIntegerField(null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="switches",
                        to="fleet.cluster",
                    ),
                ),
                (
                    "domain",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="switches",
                        to="fleet.domain",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "switches",
                "ordering": ["tier", "index", "name"],
            },
        ),
        migrations.CreateModel(
            name="Link",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("count", models.PositiveIntegerField(default=1)),
                ("unidirectional_bytes_per_s", models.FloatField()),
                ("optical", models.BooleanField(default=False)),
                (
                    "accelerator",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="fleet.accelerator",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="fleet.node",
                    ),
                ),
                (
                    "lower",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links_up",
                        to="fleet.switch",
                    ),
                ),
                (
                    "upper",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links_down",
                        to="fleet.switch",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="BulkImport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("file_name", models.CharField(blank=True, max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("size_bytes", models.BigIntegerField()),
                ("content", models.BinaryField()),
                ("form", models.CharField(blank=True, max_length=4)),
                ("table", models.CharField(blank=True, max_length=12)),
                ("mode", models.CharField(max_length=6)),
                ("columns", models.JSONField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waits for a worker"),
                            ("planned", "looked at"),
                            ("refused", "refused"),
                            ("applied", "applied"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("apply_at_once", models.BooleanField(default=False)),
                ("row_count", models.PositiveIntegerField(null=True)),
                ("head", models.JSONField(default=list)),
                ("counts", models.JSONField(default=dict)),
                ("outcome", models.BinaryField(null=True)),
                ("plan_digest", models.CharField(blank=True, max_length=64)),
                ("problem", models.JSONField(null=True)),
                ("asked_label", models.CharField(max_length=200)),
                ("asked_at", models.DateTimeField()),
                ("applied_at", models.DateTimeField(null=True)),
                ("applied_label", models.CharField(blank=True, max_length=200)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "asked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="jobs.job",
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.cluster"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["cluster", "-id"], name="fleet_import_newest")],
            },
        ),
        migrations.AddConstraint(
            model_name="domain",
            constraint=models.UniqueConstraint(fields=("cluster", "name"), name="fleet_domain_name"),
        ),
        migrations.AddIndex(
            model_name="node",
            index=models.Index(fields=["domain", "index"], name="fleet_node_place"),
        ),
        migrations.AddConstraint(
            model_name="node",
            constraint=models.UniqueConstraint(fields=("cluster", "name"), name="fleet_node_name"),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(fields=["owner"], name="fleet_hold_owner"),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("released_at__isnull", True), models.Q(("kind", "quarantine"), _negated=True)
                ),
                fields=("node",),
                name="fleet_one_exclusive_hold",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "quarantine"), ("released_at__isnull", True)),
                fields=("node",),
                name="fleet_one_quarantine",
            ),
        ),
        migrations.AddConstraint(
            model_name="nodealias",
            constraint=models.UniqueConstraint(fields=("cluster", "name"), name="fleet_alias_name"),
        ),
        migrations.AddConstraint(
            model_name="part",
            constraint=models.CheckConstraint(
                condition=models.Q(("serial", ""), ("uuid", ""), _negated=True), name="fleet_part_identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="part",
            constraint=models.UniqueConstraint(
                condition=models.Q(("serial", ""), _negated=True),
                fields=("cluster", "kind", "serial"),
                name="fleet_part_serial",
            ),
        ),
        migrations.AddConstraint(
            model_name="part",
            constraint=models.UniqueConstraint(
                condition=models.Q(("uuid", ""), _negated=True),
                fields=("cluster", "kind", "uuid"),
                name="fleet_part_uuid",
            ),
        ),
        migrations.AddConstraint(
            model_name="subdomain",
            constraint=models.UniqueConstraint(fields=("domain", "index"), name="fleet_sub_domain_index"),
        ),
        migrations.AddConstraint(
            model_name="accelerator",
            constraint=models.UniqueConstraint(fields=("node", "index"), name="fleet_accelerator_slot"),
        ),
        migrations.AddConstraint(
            model_name="switch",
            constraint=models.UniqueConstraint(fields=("cluster", "name"), name="fleet_switch_name"),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("accelerator__isnull", False), ("lower__isnull", True), ("node__isnull", True)),
                    models.Q(("accelerator__isnull", True), ("lower__isnull", True), ("node__isnull", False)),
                    models.Q(("accelerator__isnull", True), ("lower__isnull", False), ("node__isnull", True)),
                    _connector="OR",
                ),
                name="fleet_link_one_lower_end",
            ),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.CheckConstraint(
                condition=models.Q(("unidirectional_bytes_per_s__gt", 0)), name="fleet_link_bandwidth"
            ),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("lower__isnull", True),
                    models.Q(("lower", models.F("upper")), _negated=True),
                    _connector="OR",
                ),
                name="fleet_link_no_loop",
            ),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.UniqueConstraint(
                fields=("upper", "accelerator"), name="fleet_link_accelerator_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.UniqueConstraint(fields=("upper", "node"), name="fleet_link_node_once"),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.UniqueConstraint(fields=("upper", "lower"), name="fleet_link_lower_once"),
        ),
    ]
