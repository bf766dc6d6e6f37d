"""The portal's settings, with a data folder that goes away, TEST_DATABASE_URL and a fast password hasher.

pytest-django loads settings before any conftest, so the environment is set up here.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="portal-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)

for _name in [name for name in os.environ if name.startswith("PORTAL_")]:
    del os.environ[_name]
for _name in ("CELERY_BROKER_URL", "REDIS_URL"):
    os.environ.pop(_name, None)
os.environ["PORTAL_DATA_DIR"] = _folder
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{_folder}/portal.sqlite3"

from supernode_portal.settings import *  # noqa: E402, F403

BROKER_URL = "memory://"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["*"]
