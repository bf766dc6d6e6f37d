"""Labels of nodes were never kept: they stand in the node lists that were handed in."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("fleet", "0003_link_speed_unknown")]

    operations = [migrations.RemoveField(model_name="node", name="labels")]
