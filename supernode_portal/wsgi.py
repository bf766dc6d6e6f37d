"""The WSGI entry for gunicorn."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "supernode_portal.settings")
application = get_wsgi_application()
# What stays for good is loaded and left out of garbage collection, which otherwise walks all of it again and again:
# about a fifth of the processor time of a short request.
get_resolver().url_patterns  # noqa: B018  imports every view
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)
