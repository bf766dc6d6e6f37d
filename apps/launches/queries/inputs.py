"""What an evaluation rests on, as digests: when one of them changes, the evaluation no longer stands."""

from __future__ import annotations

from apps.benchmarks.queries import acceptance_of, newest_whole_domain_run
from apps.changes.queries import open_changes_on
from apps.core import clock, digest
from apps.environments.queries import matrix_in_force, reported_versions
from apps.fleet.models import Node
from apps.fleet.queries import active_holds
from apps.launches.models import Answer, Launch, Waiver


def nodes_of(launch: Launch) -> list[Node]:
    """The launch's nodes in rank order."""
    return [row.node for row in launch.nodes.select_related("node__cluster", "node__domain")]


def current_inputs(launch: Launch) -> dict[str, str]:
    """Name to digest of every input as it is now. The holds of the launch itself are none."""
    nodes = nodes_of(launch)
    ids = [node.pk for node in nodes]
    matrix = matrix_in_force(launch.domain)
    versions = reported_versions(ids)
    run = newest_whole_domain_run(launch.domain)
    holds = active_holds(ids).exclude(owner=launch.owner).order_by("pk")
    return {
        "launch": digest.of_value(
            [launch.title, launch.job_environment, launch.plan_id, launch.template_id, ids]
        ),
        "matrix": f"{matrix.pk}:{matrix.digest}" if matrix else "",
        "versions": digest.of_value(
            [
                [node.name, sorted([k, v.loaded, v.declared] for k, v in versions.get(node.pk, {}).items())]
                for node in nodes
            ]
        ),
        "nodes": digest.of_value([[node.pk, node.life_cycle, node.health, node.domain_id] for node in nodes]),
        "holds": digest.of_value([[hold.pk, hold.owner] for hold in holds]),
        "changes": digest.of_value(
            sorted(open_changes_on(ids, under_way_only=True).values_list("pk", flat=True))
        ),
        "benchmark": digest.of_value([run.pk, acceptance_of(run).verdict.value]) if run else "",
        "answers": digest.of_value(sorted(Answer.objects.filter(launch=launch).values_list("pk", flat=True))),
        "waivers": digest.of_value(sorted(row.pk for row in active_waivers(launch))),
    }


def active_waivers(launch: Launch) -> list[Waiver]:
    """Waivers that are approved, not revoked, and not over."""
    rows = Waiver.objects.filter(
        launch=launch,
        approved_at__isnull=False,
        revoked_at__isnull=True,
        expires_at__gt=clock.now(),
    )
    return list(rows.select_related("requested_by", "approved_by"))
