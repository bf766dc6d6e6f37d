"""The demonstration fleet, told through the ordinary services: nothing is written past them.

A domain of 144 accelerators whose nodes report, whose matrix is locked and known-good because a launch was
decided on it, and of which one node lags behind since.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.utils.module_loading import autodiscover_modules

from apps.accounts.models import Person
from apps.accounts.services.people import create_person
from apps.accounts.services.roles import add_grant
from apps.audit.models import AuditEvent
from apps.audit.services import deciding, record
from apps.benchmarks import services as benchmarks
from apps.benchmarks.models import BenchmarkRun
from apps.core import actor as actors
from apps.core import clock
from apps.core.actor import EVERYWHERE, Actor, Via
from apps.core.errors import Conflict, Missing
from apps.core.rights import Right, Role
from apps.core.texts import say
from apps.environments import services as environments
from apps.fleet import services as fleet
from apps.fleet.engine.layouts import Layout
from apps.fleet.engine.templates import template
from apps.fleet.models import Cluster, Domain, Node
from apps.jobs import running
from apps.jobs.models import Job, JobState
from apps.launches import services as launches
from apps.launches.models import Evaluation, Launch
from apps.launches.queries import decision_of
from apps.planning import services as planning
from apps.planning.models import PlanVersion
from apps.planning.queries import system_of
from apps.portal.demo import files
from apps.portal.services import demo_removal, intake

SLUG, DOMAIN = "demo-144", "sn"
LOADED = "demo.loaded"  # the action that ends a load
PEOPLE = (
    ("Ada", Role.ADMIN),
    ("Bo", Role.OPERATOR),
    ("Chen", Role.APPROVER),
    ("Sun", Role.SIGNER),
    ("Dana", Role.AUDITOR),
    ("Vic", Role.VIEWER),
)
DESCRIPTION = (
    "Demonstration: the layout is that of 144 accelerators in 4 sub-domains; what its nodes report was read "
    "from real tool output of other machines (8 × H100 hosts, and all-reduce runs over GB200 racks). Its links are put "
    "as fast as those of the racks."
)
JOB_ENVIRONMENT = "export NCCL_DEBUG=WARN\nexport TORCH_NCCL_ASYNC_ERROR_HANDLING=1\n"
PLAN = {
    "model": {
        "layers": 80,
        "hidden": 8192,
        "ffn_hidden": 28672,
        "heads": 64,
        "kv_heads": 8,
        "vocab": 128256,
        "gated_mlp": True,
        "tied_embeddings": False,
    },
    "parallel": {
        "tp": 8,
        "pp": 9,
        "vpp": 1,
        "dp": 2,
        "cp": 1,
        "ep": 1,
        "micro_batch": 1,
        "global_batch": 144,
        "seq_len": 8192,
        "recompute": "selective",
        "sequence_parallel": True,
        "zero": 1,
        "precision": "bf16",
    },
}


@dataclass(frozen=True, slots=True)
class Login:
    """A person of the demonstration and the password that was made up for this load."""

    name: str
    role: Role
    email: str
    password: str


def is_loaded() -> bool:
    """Whether the demonstration fleet is here already, and whole."""
    told = Cluster.objects.filter(slug=SLUG, is_demo=True).first()
    return told is not None and AuditEvent.objects.filter(action=LOADED, object_id=str(told.pk)).exists()


def is_in_use() -> bool:
    """Whether this portal is used for real: it has a fleet of its own, or its demonstration was removed."""
    if Cluster.objects.exists():
        # What is not whole of the demonstration is of a load that died.
        return Cluster.objects.filter(is_demo=False).exists()
    return AuditEvent.objects.filter(action=demo_removal.REMOVED).exists()


def load() -> list[Login]:
    """Load the demonstration fleet; what an interrupted load left is removed before.

    Gives the logins, whose passwords are kept nowhere. Raises Conflict where a fleet exists that is none.
    """
    if Cluster.objects.filter(is_demo=False).exists():
        raise Conflict(
            say("there is a fleet that is no demonstration; the demo is not mixed into it"), code="real_fleet"
        )
    autodiscover_modules("tasks")
    shell = actors.command("load_demo")
    demo_removal.remove_clusters(actor=shell)
    logins = [_login(name, role) for name, role in PEOPLE]
    with deciding():
        cluster = fleet.create_cluster(
            actor=shell,
            name="Demo cluster",
            slug=SLUG,
            description=DESCRIPTION,
            owner_team="Training infrastructure",
            is_demo=True,
        )
        domain = fleet.build_domain(
            actor=shell,
            cluster_id=cluster.pk,
            name=DOMAIN,
            layout=_layout(),
            accelerator_model="nvidia-h100-sxm5-80gb",
            scale_out_bytes_per_s=50e9,
        )
        _grant(cluster)
    _tell(cluster, domain)
    with deciding():
        record(actor=shell, action=LOADED, on=cluster, scope_id=cluster.scope_id)
    return logins


def new_passwords() -> list[Login]:
    """Give the people of the loaded demonstration new passwords, which end their sessions. Kept nowhere, as in load.

    Raises Missing where no demonstration is loaded.
    """
    if not is_loaded():
        raise Missing(say("no demonstration fleet is loaded"))
    return [_with_new_password(name, role) for name, role in PEOPLE]


def _with_new_password(name: str, role: Role) -> Login:
    password = secrets.token_urlsafe(12)
    with deciding():
        person = Person.objects.select_for_update().get(email=_email(name))
        person.set_password(password)
        person.save(update_fields=["password"])
        record(actor=actors.command("load_demo"), action="person.password_changed", on=person)
    return Login(name=name, role=role, email=person.email, password=password)


def _tell(cluster: Cluster, domain: Domain) -> None:
    """The story so far: reports, matrix, benchmark, plan, a launch that went well, and the node that lags."""
    bo, sun = _as_person("Bo"), _as_person("Sun")
    nodes = list(Node.objects.filter(domain=domain).order_by("index"))
    for node in nodes:
        _hand_in(bo, cluster, files.PACKAGES, node.name)
        _hand_in(bo, cluster, files.VERSIONS, node.name)
    _lock_matrix(bo, domain)
    for file in (files.ONE_RACK, files.TWO_RACKS, files.TWENTY_RACKS):
        _hand_in(bo, cluster, file, domain.name)
    run = _stated_runs(bo, domain)
    benchmarks.set_baseline(actor=bo, run_id=run.pk, reason="first run over the whole domain")
    plan = planning.create_plan(
        actor=bo,
        scope_id=cluster.scope_id,
        domain_id=domain.pk,
        name="Llama 3 70B on 144",
        document=PLAN | {"system": system_of(domain)},  # sizes of the fleet, bandwidth as it was measured
    )
    _work(cluster)
    planning.use_for_launch(actor=bo, plan_id=plan.plan_id, number=plan.number)
    _launched(bo, sun, domain, plan)
    _hand_in(bo, cluster, files.LAGGING, nodes[6].name)
    environments.request_check(actor=bo, domain_id=domain.pk)
    _work(cluster)


def _login(name: str, role: Role) -> Login:
    """Somebody of the demonstration with a new password; whoever knew an earlier demonstration comes back.

    The administrator administrates everywhere.
    """
    shell, email, password = actors.command("load_demo"), _email(name), secrets.token_urlsafe(12)
    with deciding():
        person = Person.objects.filter(email=email).first()
        if person is None:
            person = create_person(email=email, name=name, password=password)
            record(actor=shell, action="person.created", on=person, after={"kind": person.kind})
        else:
            person.is_active, person.left_at = True, None
            person.set_password(password)
            person.save()
            record(actor=shell, action="person.returned", on=person)
        if role is Role.ADMIN:
            _give(person, role, None)
    return Login(name=name, role=role, email=email, password=password)


def _grant(cluster: Cluster) -> None:
    """The others have one role each, in the demonstration cluster only; the trail is one, so its auditor sees all."""
    for name, role in PEOPLE:
        scope_id = None if role is Role.AUDITOR else cluster.scope_id
        if role is not Role.ADMIN:
            _give(Person.objects.get(email=_email(name)), role, scope_id)


def _give(person: Person, role: Role, scope_id: int | None) -> None:
    if not person.grants.filter(role=role.value, scope_id=scope_id).exists():
        add_grant(person=person, role=role, scope_id=scope_id, actor=actors.command("load_demo"))


def _layout() -> Layout:
    layout = template("144-as-4x36")
    assert layout is not None, "the layout is one of the templates"
    return layout


def _email(name: str) -> str:
    return f"{name.lower()}@demo.example"


def _as_person(name: str) -> Actor:
    """A person of the demonstration, as if signed in; the trail names load_demo as the browser."""
    person = Person.objects.get(email=_email(name))
    return Actor(
        via=Via.SESSION,
        label=person.name,
        person_id=person.pk,
        rights={EVERYWHERE: frozenset(Right)},
        authenticated_at=clock.now(),
        user_agent="manage.py load_demo",
    )


def _hand_in(actor: Actor, cluster: Cluster, file: files.DemoFile, name: str) -> None:
    receipt = intake.take_in(
        actor=actor, cluster=cluster, chunks=[file.data], file_name=file.name, node_name=name
    )
    if receipt.refusal:
        raise Conflict(f"{file.name}: {receipt.refusal}", code="demo_file")


def _lock_matrix(actor: Actor, domain: Domain) -> None:
    drafted = environments.draft_from_reports(
        actor=actor, domain_id=domain.pk, note="drafted from what the nodes report"
    )
    environments.lock_matrix(
        actor=actor,
        version_id=drafted.pk,
        expected_version=drafted.version,
        override_reason="demonstration: the two reports come from different hosts",
    )


def _stated_runs(actor: Actor, domain: Domain) -> BenchmarkRun:
    """The logs leave out which collective ran; the file names say it, and a person states it."""
    for run in BenchmarkRun.objects.filter(domain=domain, collective=""):
        benchmarks.state_collective(actor=actor, run_id=run.pk, collective="all_reduce")
    return BenchmarkRun.objects.get(domain=domain, ranks=144)


def _launched(opener: Actor, signer: Actor, domain: Domain, plan: PlanVersion) -> None:
    """A launch from its opening to its end, so that the matrix has earned known-good."""
    launch = launches.open_launch(
        actor=opener,
        domain_id=domain.pk,
        title="Llama 3 70B, first run",
        plan_version_id=plan.pk,
        job_environment=JOB_ENVIRONMENT,
    )
    for item in ("topology_labels", "timeouts_sane", "checkpoint_readable", "storage_and_loading"):
        launches.answer_item(
            actor=opener,
            launch_id=launch.pk,
            item=item,
            verdict="pass",
            text="Looked at for the demonstration.",
        )
    launches.request_evaluation(actor=opener, launch_id=launch.pk)
    _work(domain.cluster)
    evaluation = _signable(launch)
    launches.sign_launch(
        actor=signer, evaluation_id=evaluation.pk, digest=evaluation.digest, go=True, comment="Demonstration."
    )
    launch = launches.start_launch(actor=opener, launch_id=launch.pk, expected_version=launch.version)
    launches.finish_launch(
        actor=opener, launch_id=launch.pk, expected_version=launch.version, reason="The run is over."
    )


def _signable(launch: Launch) -> Evaluation:
    decided = decision_of(launch)
    if decided.evaluation is None or decided.standing.value != "needs_signoff":
        items = decided.evaluation.items if decided.evaluation else []
        reasons = "; ".join(
            f"{one['key']}: {one['message']}" for one in items if one["verdict"] in ("fail", "unknown")
        )
        raise Conflict(f"the demonstration launch is {decided.standing.value}: {reasons}", code="demo_launch")
    return decided.evaluation


def _work(cluster: Cluster) -> None:
    """Do the queued jobs of the demonstration as a worker does; a worker that comes later finds them done."""
    while job := Job.objects.filter(state=JobState.QUEUED, scope=cluster.scope).order_by("id").first():
        running.run(job.pk)
