"""What this migration guarded is guarded in guards.py now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("launches", "0001_launches_and_evaluations")]
    operations = []
