"""A change as an Ansible inventory, for teams whose automation runs playbooks."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import yaml

from apps.changes.models import Change


def inventory_of(change: Change) -> str:
    """YAML: a group for each stage; each host carries `wanted_versions`, component to the first right version.

    The portal runs no playbook; it only says what is to be true afterwards.
    """
    groups: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    rows = change.targets.order_by("stage__number", "node__index", "node__name", "component")
    for number, host, name, values in rows.values_list("stage__number", "node__name", "component", "values"):
        groups[f"stage_{number}"][host][name] = values[0]
    children: dict[str, Any] = {
        stage: {"hosts": {host: {"wanted_versions": dict(parts)} for host, parts in hosts.items()}}
        for stage, hosts in groups.items()
    }
    document = {
        "all": {
            "vars": {"change_id": change.pk, "change_digest": change.content_digest},
            "children": children,
        }
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
