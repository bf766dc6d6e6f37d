"""Which nodes have a card on record is asked with each new identity."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0004_node_without_labels"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="accelerator",
            index=models.Index(fields=["uuid"], name="fleet_accelerator_uuid"),
        ),
        migrations.AddIndex(
            model_name="accelerator",
            index=models.Index(fields=["serial"], name="fleet_accelerator_serial"),
        ),
    ]
