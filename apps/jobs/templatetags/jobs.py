"""What templates say about jobs."""

from __future__ import annotations

from django import template

from apps.jobs.words import asker_name, kind_name

register = template.Library()
register.filter("job_name", kind_name)
register.filter("asker_name", asker_name)
