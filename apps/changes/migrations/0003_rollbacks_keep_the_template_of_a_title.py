"""A title that the portal wrote keeps what says it in another language; earlier ones keep their text."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("changes", "0002_who_edited_a_change")]

    operations = [
        migrations.AddField(model_name="change", name="title_said", field=models.JSONField(null=True)),
    ]
