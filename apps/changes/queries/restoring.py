"""Where a rollback goes: what each node is to run again, and what stands in its way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.catalogue.engine.components import component
from apps.catalogue.engine.versions import compare, parse
from apps.changes.engine.states import State
from apps.changes.models import Change, Snapshot
from apps.changes.queries.changes import open_changes_on, snapshot_versions
from apps.changes.queries.training import Training, training_on
from apps.core.errors import Conflict
from apps.core.texts import say
from apps.environments import queries as environments
from apps.environments.engine.drift import Reported
from apps.environments.models import MatrixVersion
from apps.environments.queries import reported_versions
from apps.fleet.models import Domain, HoldKind, Node
from apps.fleet.queries import active_holds, held_by

Wanted = dict[int, dict[str, tuple[str, ...]]]  # node id to component to the versions to go back to


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPreview:
    """What a rollback would restore.

    restores: the known-good version, None where it goes back to a snapshot. rows: node, component, runs now,
    goes back to. held: nodes that something else holds. changes: open changes on these nodes. unknown: nodes of
    which is not known what they ran before. restarts: components after whose change a node restarts.
    older_firmware: firmware that goes back to an older version somewhere, or perhaps does. training: jobs that run
    on the domain; a rollback of nodes that they do not hold may start beside them.
    """

    restores: MatrixVersion | None
    rows: tuple[tuple[str, str, str, str], ...]
    held: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    unknown: tuple[str, ...] = ()
    restarts: tuple[str, ...] = ()
    older_firmware: tuple[str, ...] = ()
    training: tuple[Training, ...] = ()

    @property
    def differing(self) -> tuple[tuple[str, str, str, str], ...]:
        """The rows in which a node does not run already what it goes back to."""
        return tuple(row for row in self.rows if row[2] != row[3])


def preview_rollback(
    *, domain: Domain, matrix_version_id: int | None = None, node_ids: Sequence[int] = ()
) -> RollbackPreview:
    """What a rollback to a known-good version would do. Raises Conflict where there is none, or nothing differs."""
    good = known_good_version(domain, matrix_version_id)
    stuck = stuck_changes(domain, node_ids)
    nodes = nodes_to_look_at(domain, node_ids, stuck)
    wanted = differing_from(good, domain, nodes)
    if not wanted:
        raise Conflict(say("no node differs from %(good)s", good=good), code="nothing_differs")
    return _preview(wanted, nodes, restores=good, own=stuck)


def preview_undo(change: Change) -> RollbackPreview:
    """What rolling this change back would do. Raises Conflict where it has no snapshot, or was rolled back."""
    snapshot = Snapshot.objects.filter(change=change).first()
    if snapshot is None:
        raise Conflict(_("the change has not started, there is nothing to go back from"), code="no_snapshot")
    if change.state == State.ROLLED_BACK:
        raise Conflict(
            _("the change was rolled back already, there is nothing to restore"), code="change_state"
        )
    nodes = _nodes_of(change)
    return _preview(versions_before(change, snapshot), nodes, restores=None, own=[change])


def known_good_version(domain: Domain, matrix_version_id: int | None) -> MatrixVersion:
    """The newest known-good version of a domain, or the one that is named. Raises Conflict."""
    if matrix_version_id is None:
        good = environments.known_good(domain)
    else:
        good = known_good_versions(domain).get(matrix_version_id)
    if good is None:
        raise Conflict(_("nothing was known to be good here"), code="no_known_good")
    return good


def known_good_versions(domain: Domain) -> dict[int, MatrixVersion]:
    """Every version that was known good for this domain or its whole cluster, the newest first."""
    rows = MatrixVersion.objects.filter(
        matrix__cluster=domain.cluster_id, known_good_at__isnull=False
    ).select_related("matrix")
    fitting = [row for row in rows if row.matrix.domain_id in (None, domain.pk)]
    return {row.pk: row for row in sorted(fitting, key=lambda row: row.known_good_at or 0, reverse=True)}


def stuck_changes(domain: Domain, node_ids: Sequence[int]) -> list[Change]:
    """Failed changes (rollbacks too) that still hold nodes where a rollback looks: it takes their holds over."""
    looked_at = list(node_ids) or list(Node.objects.in_use().under(domain).values_list("pk", flat=True))
    owners = set(active_holds(looked_at).filter(kind=HoldKind.CHANGE).values_list("owner", flat=True))
    failed = Change.objects.filter(domain=domain, state=State.FAILED.value).order_by("pk")
    return [change for change in failed if change.owner in owners] if owners else []


def nodes_to_look_at(domain: Domain, node_ids: Sequence[int], stuck: Sequence[Change]) -> list[Node]:
    """The named nodes of the domain (all by default), and those that stuck changes hold."""
    nodes = list(Node.objects.in_use().under(domain).order_by("index", "name"))
    if not node_ids:
        return nodes
    wanted = set(node_ids)
    for change in stuck:
        wanted |= set(held_by(change.owner).values_list("node_id", flat=True))
    return [node for node in nodes if node.pk in wanted]


def differing_from(good: MatrixVersion, domain: Domain, nodes: Sequence[Node]) -> Wanted:
    """Per node what differs from what the version was known good with; nodes that match are left out."""
    asked = environments.known_good_versions(good, domain)
    versions = reported_versions([node.pk for node in nodes])
    wanted: Wanted = {}
    for node in nodes:
        if names := environments.differing(asked, versions.get(node.pk, {})):
            wanted[node.pk] = {name: asked[name].values for name in names}
    return wanted


def versions_before(change: Change, snapshot: Snapshot) -> Wanted:
    """Per node what it ran before of the components that the change touched; what is not known is left out."""
    before = snapshot_versions(snapshot)
    touched = set(change.targets.values_list("component", flat=True))
    wanted: Wanted = {}
    for node in _nodes_of(change):
        known = {
            name: tuple(values)
            for name, values in before.get(node.name, {}).items()
            if name in touched and values
        }
        if known:
            wanted[node.pk] = known
    return wanted


def restores_nothing(preview: RollbackPreview, change: Change) -> bool:
    """Whether undoing a change would neither bring a version back nor let a node go."""
    return not preview.rows or not (preview.differing or held_for(change))


def held_for(change: Change) -> list[int]:
    """Ids of the nodes that are held for a change."""
    return list(held_by(change.owner).values_list("node_id", flat=True))


def _nodes_of(change: Change) -> list[Node]:
    return list(Node.objects.in_use().filter(pk__in=change.targets.values("node")).order_by("index", "name"))


def _preview(
    wanted: Wanted, nodes: Sequence[Node], *, restores: MatrixVersion | None, own: Iterable[Change]
) -> RollbackPreview:
    versions = reported_versions(wanted)
    names = {node.pk: node.name for node in nodes}
    rows = tuple(
        (names[pk], name, _text(versions.get(pk, {}).get(name)), " | ".join(values))
        for pk, parts in wanted.items()
        for name, values in parts.items()
    )
    owners = {change.owner for change in own}
    held = active_holds(wanted).exclude(kind=HoldKind.QUARANTINE).exclude(owner__in=owners)
    others = open_changes_on(wanted).exclude(pk__in=[change.pk for change in own])
    return RollbackPreview(
        restores=restores,
        rows=rows,
        held=tuple(sorted({hold.node.name for hold in held})),
        changes=tuple(others),
        unknown=tuple(node.name for node in nodes if node.pk not in wanted) if restores is None else (),
        restarts=tuple(sorted({row[1] for row in rows if row[2] != row[3] and _needs_restart(row[1])})),
        older_firmware=_older_firmware(wanted, versions),
        training=tuple(training_on(nodes[0].domain)) if nodes and nodes[0].domain else (),
    )


def _needs_restart(component_id: str) -> bool:
    return component(component_id).area in ("driver", "firmware", "system")


def _older_firmware(wanted: Wanted, versions: Mapping[int, Mapping[str, Reported]]) -> tuple[str, ...]:
    back = [(pk, name, values) for pk, parts in wanted.items() for name, values in parts.items()]
    older = {
        name for pk, name, values in back if _is_older_firmware(name, values, versions.get(pk, {}).get(name))
    }
    return tuple(sorted(older))


def _is_older_firmware(component_id: str, back: Sequence[str], reported: Reported | None) -> bool:
    """Whether a device would have to take an older version than it runs; also where that cannot be told."""
    known = component(component_id)
    if known.area != "firmware" or (reported and set(back) == set(reported.values)):
        return False
    if not reported or not reported.values:
        return True
    orders = [
        compare(parse(old, known.scheme), parse(now, known.scheme)) for old in back for now in reported.values
    ]
    return any(order is None or order < 0 for order in orders)


def _text(reported: Reported | None) -> str:
    return " | ".join(reported.values) if reported else ""
