"""The links of a scheduler's tree have no bandwidth."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0002_system_serial")]

    operations = [
        migrations.AlterField(
            model_name="link",
            name="unidirectional_bytes_per_s",
            field=models.FloatField(null=True),
        ),
    ]
