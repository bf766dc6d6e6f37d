"""Settings that a team makes over what is shipped: written by whoever saw what is there, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, models, transaction


def write_seen(
    model: type[models.Model], key: Mapping[str, Any], values: Mapping[str, Any], *, expected_version: int
) -> bool:
    """Change the row of this key if it is at the version that was seen; 0: none was, and it is made.

    False where somebody was faster, on either. The key is unique, and the row counts its `version` from 1.
    """
    rows = model._default_manager
    if expected_version == 0:
        try:
            with transaction.atomic():
                rows.create(**key, **values)
        except IntegrityError:
            return False
        return True
    return bool(rows.filter(**key, version=expected_version).update(**values, version=expected_version + 1))
