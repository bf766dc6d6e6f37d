"""What several tests of plans start from."""

from __future__ import annotations

import pytest

from apps.planning import services
from tests.apps.planning.documents import small
from tests.callers import actor_for


@pytest.fixture
def make(cluster, bo):
    """Asks for a plan of the cluster; its first version."""

    def made(document=None, name="plan", **fields):
        return services.create_plan(
            actor=actor_for(bo), scope_id=cluster.scope_id, name=name, document=document or small(), **fields
        )

    return made


@pytest.fixture
def wizard(cluster):
    """The wizard's fields for hypothetical hardware of eight accelerators."""

    def filled(**changed):
        fields = {
            "name": "from the wizard",
            "question": "estimate",
            "model_source": "catalogue",
            "catalogue_model": "llama-3-8b",
            "cluster": cluster.pk,
            "accelerator": "nvidia-gb200",
            "accelerators": 8,
            "domain_size": 8,
            "tp": 2,
            "pp": 1,
            "micro_batch": 1,
            "global_batch": 16,
            "seq_len": 4096,
            "precision": "bf16",
            "recompute": "none",
            "zero": 1,
            "sequence_parallel": "on",
        }
        return {key: value for key, value in (fields | changed).items() if value is not None}

    return filled
