"""What this migration guarded is guarded in guards.py now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("environments", "0001_matrices_facts_drift")]
    operations = []
