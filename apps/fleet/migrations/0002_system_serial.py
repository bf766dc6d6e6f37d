"""A node's machine has a serial number of its own, beside that of its board."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0001_fleet_and_holds")]

    operations = [
        migrations.AddField(
            model_name="node",
            name="system_serial",
            field=models.CharField(blank=True, default="", max_length=120),
            preserve_default=False,
        ),
    ]
