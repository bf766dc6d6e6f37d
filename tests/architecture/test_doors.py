"""An app enters another only through its doors."""

from __future__ import annotations

import pytest

from tests.architecture.sources import Source, sources

DOORS = {"services", "queries", "models", "engine"}

# Modules outside of these rooms that others may enter, and why.
SIDE_DOORS = {
    "accounts.forms": "forms of other apps ask where something holds in the same way",
    "audit.directory": "apps above introduce themselves as those who know names and pages",
    "jobs.registry": "tasks of each app register their kinds of work",
    "jobs.running": "tasks of each app are given the running job",
    "jobs.readiness": "portal gives it an address beside the other probes",
    "fleet.page": "every page about a cluster tells the shell so in the same way",
    "evidence.answers": "the intake answers about a receipt as evidence itself does",
    "evidence.uploads": "the intake takes files of any size, which evidence knows how to bound",
    "evidence.store": "the intake streams a body into the store without holding it",
    "benchmarks.words": "gates of changes say why a run is not accepted as benchmarks do",
    "environments.words": "what components are called",
    "catalogue.words": "what accelerators are called",
    "fleet.words": "what layouts are called",
    "health.words": "an item of the gate names causes as health does",
    "evidence.words": "what states and kinds of evidence are called",
    "launches.words": "what items of a checklist are called",
    "jobs.answers": "the API of each app answers 202 in the same way",
    "jobs.guarded_http": "whatever calls out does so through one guard",
}


def entered(source: Source) -> list[tuple[int, str]]:
    """(line, "app.module") of each import from another app of ours."""
    found = []
    for line, name in source.imports():
        parts = name.split(".")
        if parts[0] == "apps" and len(parts) > 2 and parts[1] not in (source.app, "core"):
            found.append((line, f"{parts[1]}.{parts[2]}"))
    return found


def test_apps_are_entered_through_their_doors_only():
    wrong = [
        f"apps/{source.path}:{line} enters {door}"
        for source in sources()
        for line, door in entered(source)
        if door.split(".")[1] not in DOORS and door not in SIDE_DOORS
    ]
    assert wrong == []


@pytest.mark.parametrize("door", SIDE_DOORS)
def test_each_side_door_is_used(door):
    assert any(door == found for source in sources() for _line, found in entered(source))


def test_engines_stay_among_engines_and_plain_parts_of_core():
    plain = {"actor", "errors", "foreign", "rights", "units", "verdicts", "digest", "hostlist"}
    plain |= {"safe_yaml", "storable", "texts"}
    wrong = []
    for source in sources():
        if source.room != "engine":
            continue
        for line, name in source.imports():
            parts = name.split(".")
            if (
                parts[0] == "apps"
                and parts[2:3] != ["engine"]
                and not (parts[1] == "core" and parts[2] in plain)
            ):
                wrong.append(f"apps/{source.path}:{line} imports {name}")
    assert wrong == []


def test_services_ask_for_work_by_name():
    wrong = [
        f"apps/{source.path}:{line}"
        for source in sources()
        if source.room in ("services", "queries", "models")
        for line, name in source.imports()
        if "tasks" in name.split(".")  # the room; tasks_visible and the like are names inside a module
    ]
    assert wrong == []
