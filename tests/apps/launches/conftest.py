"""A domain that is fit to train, and a launch on it whose every item holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apps.accounts.models import Person
from apps.benchmarks.models import BenchmarkRun
from apps.core import clock
from apps.environments.models import MatrixVersion
from apps.fleet.models import Accelerator, Cluster, Domain, Node
from apps.launches import services
from apps.launches.models import Evaluation, Launch
from apps.launches.queries import decision_of
from apps.planning.models import Plan, PlanVersion
from tests import factories
from tests.callers import actor_for

MANUAL = ("topology_labels", "timeouts_sane", "checkpoint_readable", "storage_and_loading")


@pytest.fixture
def domain(cluster: Cluster) -> Domain:
    """Four nodes with one accelerator each, all alike, a matrix that they match, and an accepted all-reduce."""
    made = factories.reported_domain(cluster, 4, sub_domains=1)
    made.unidirectional_bytes_per_s = 900e9
    made.save()
    return made


@pytest.fixture
def nodes(domain: Domain) -> list[Node]:
    return list(Node.objects.filter(domain=domain).order_by("index"))


@pytest.fixture
def matrix(domain: Domain) -> MatrixVersion:
    return factories.locked_matrix(domain)


@pytest.fixture
def benchmark(domain: Domain, nodes: list[Node], matrix: MatrixVersion) -> BenchmarkRun:
    made = BenchmarkRun.objects.create(
        cluster=domain.cluster,
        domain=domain,
        sha256="b" * 64,
        tool="nccl-tests",
        collective="all_reduce",
        ranks=Accelerator.objects.filter(node__domain=domain).count(),
        status="complete",
        max_size_bytes=8 << 30,
        busbw_bytes_per_s=850e9,
        wrong_total=0,
        received_at=clock.now(),
        matrix_version=matrix,
    )
    made.nodes.set(nodes)
    return made


@pytest.fixture
def plan(cluster: Cluster) -> PlanVersion:
    """A plan for the four accelerators that fits."""
    plan = Plan.objects.create(scope=cluster.scope, name="Small", created_at=clock.now())
    return PlanVersion.objects.create(
        plan=plan,
        number=1,
        input={"system": {"accelerators": 4}, "parallel": {"tp": 2, "dp": 2}},
        fits=True,
        created_at=clock.now(),
    )


@pytest.fixture
def opened(domain: Domain, benchmark: BenchmarkRun, plan: PlanVersion, bo: Person) -> Callable[..., Launch]:
    """Bo, or somebody else, opens a launch on all nodes."""

    def open_one(*, by: Person = bo, **said) -> Launch:
        values = {
            "title": "Llama",
            "plan_version_id": plan.pk,
            "job_environment": "export NCCL_DEBUG=WARN\n",
        }
        return services.open_launch(actor=actor_for(by), domain_id=domain.pk, **values | said)

    return open_one


@pytest.fixture
def answered(opened: Callable[..., Launch], bo: Person) -> Callable[..., Launch]:
    """The same, with every manual item answered."""

    def answer(**said) -> Launch:
        launch = opened(**said)
        for item in MANUAL:
            services.answer_item(
                actor=actor_for(bo), launch_id=launch.pk, item=item, verdict="pass", text="seen"
            )
        return launch

    return answer


@pytest.fixture
def evaluated(bo: Person, run_jobs) -> Callable[..., Evaluation]:
    """A worker evaluates a launch, where it is not evaluated and stands; gives the evaluation."""

    def evaluate(launch: Launch, *, anew: bool = False) -> Evaluation:
        services.request_evaluation(actor=actor_for(bo), launch_id=launch.pk, anew=anew)
        run_jobs("launches.evaluate")
        evaluation = decision_of(launch).evaluation
        assert evaluation is not None
        return evaluation

    return evaluate


def items_of(evaluation: Evaluation) -> dict[str, tuple[str, str]]:
    """Key of each item to its verdict and code."""
    return {row["key"]: (row["verdict"], row["code"]) for row in evaluation.items}
