"""Rules of layouts: what Megatron-LM refuses to start is not searched, is refused when asked, and never measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apps.core.errors import Invalid
from apps.planning.engine.ablations import ablations
from apps.planning.engine.estimate import estimate
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.layouts import WORDS, Layouts
from apps.planning.engine.published_run import PublishedRun, read_run
from apps.planning.engine.reading import read_plan
from apps.planning.engine.reading_model import read_model
from apps.planning.engine.reading_search import read_search
from apps.planning.engine.rules import OF_MEGATRON, violations
from apps.planning.engine.search import SearchResult, plan_of, search
from tests.apps.planning.engine.plans import DEEPSEEK_V3, GPT3_175B, LLAMA_70B, changed
from tests.apps.planning.engine.test_validation import ROWS

MIXTRAL = {
    "layers": 56,
    "hidden": 6144,
    "heads": 48,
    "kv_heads": 8,
    "head_dim": 128,
    "vocab": 32768,
    "ffn_hidden": 16384,
    "experts": 8,
    "topk": 2,
    "expert_ffn_hidden": 16384,
}
SEARCH = {
    "model": MIXTRAL,
    "system": {"accelerator": "nvidia-gb200", "accelerators": 288, "domain_size": 72},
    "global_batch": 576,
    "seq_len": 4096,
    "precision": "bf16",
    "limits": {"max_tp": 16, "max_pp": 8, "max_vpp": 4, "max_micro_batch": 4},
}


def mixtral(**parallel: Any) -> dict[str, Any]:
    base = {"model": MIXTRAL, "system": dict(SEARCH["system"]), "parallel": dict(LLAMA_70B["parallel"])}
    sizes = {"tp": 4, "pp": 8, "dp": 9, "ep": 4, "micro_batch": 1, "global_batch": 576, "seq_len": 4096}
    return changed(base, **(sizes | parallel))


def refusals(document: dict[str, Any]) -> dict[str, str]:
    """Codes of what a plan is refused for, by pointer."""
    with pytest.raises(Invalid) as refused:
        read_plan(document)
    return {error.pointer: error.code for error in refused.value.errors}


def test_published_runs_break_no_rule() -> None:
    for run in map(read_run, ROWS):
        if isinstance(run, PublishedRun):
            plan = run.plan
            found = violations(
                plan.model,
                plan.layout,
                accelerators=plan.system.accelerators,
                seq_len=plan.workload.seq_len,
            )
            assert [code for code, mask in found.items() if mask[0]] == [], run.id


def test_a_search_proposes_no_tensor_size_that_cuts_key_value_heads() -> None:
    found = search(read_search(SEARCH))
    sizes = set(found.table.layouts.tp.tolist())
    assert found.rejected["kv_heads_not_divisible"] > 0
    assert sizes <= {1, 2, 4, 8, 16} and len(sizes) > 2
    assert found.candidates == found.feasible + sum(found.rejected.values())


def test_what_a_search_proposes_is_a_plan_that_is_not_refused() -> None:
    wanted = read_search(SEARCH | {"limits": SEARCH["limits"] | {"max_cp": 2}})
    table = search(wanted).table
    for position in range(0, len(table), max(1, len(table) // 100)):
        plan = plan_of(wanted, table.layouts, position)
        codes = {warning.code for warning in estimate(plan).warnings}
        assert not codes & OF_MEGATRON


@pytest.mark.parametrize(
    ("parallel", "pointer", "code"),
    [
        ({"tp": 3, "pp": 8, "dp": 12, "seq_len": 4098}, "/parallel/tp", "kv_heads_not_divisible"),
        ({"seq_len": 4098}, "/parallel/tp", "sequence_not_divisible_by_tp"),
        ({"sequence_parallel": False}, "/parallel/sequence_parallel", "experts_without_sequence_parallel"),
        (
            {"vpp": 7, "global_batch": 36, "micro_batch": 1},
            "/parallel/vpp",
            "too_few_micro_batches",
        ),
    ],
)
def test_an_estimate_is_refused_for_what_megatron_refuses(
    parallel: dict[str, Any], pointer: str, code: str
) -> None:
    read_plan(mixtral())
    assert refusals(mixtral(**parallel)) == {pointer: code}


def test_a_width_that_is_no_multiple_of_tp_is_refused() -> None:
    odd = LLAMA_70B | {"model": LLAMA_70B["model"] | {"ffn_hidden": 28676}}
    assert refusals(odd) == {"/parallel/tp": "width_not_divisible"}


def test_a_tensor_group_may_share_key_value_heads_with_a_warning() -> None:
    plan = read_plan(changed(LLAMA_70B, tp=16, pp=4, dp=2, seq_len=8192))
    assert "kv_heads_repeated" in {warning.code for warning in estimate(plan).warnings}


def test_the_latent_of_mla_is_not_cut_by_heads() -> None:
    model = DEEPSEEK_V3["model"] | {"kv_heads": 1}
    read_plan(changed(DEEPSEEK_V3 | {"model": model}, tp=4, dp=16, ep=16, sequence_parallel=True))


def test_each_context_rank_cuts_its_own_part_of_the_sequence() -> None:
    short = {"tp": 8, "pp": 2, "cp": 4, "dp": 2, "seq_len": 8 * 3}
    assert refusals(changed(LLAMA_70B, **short)) == {"/parallel/tp": "sequence_not_divisible_by_tp"}
    read_plan(changed(LLAMA_70B, **(short | {"sequence_parallel": False})))
    read_plan(changed(LLAMA_70B, **(short | {"seq_len": 8 * 4})))


@pytest.mark.parametrize("framework", ["deepspeed", "fsdp"])
def test_other_frameworks_are_warned_of_it(framework: str) -> None:
    document = mixtral(tp=3, pp=8, dp=12, framework=framework)
    warned = {warning.code: warning.message for warning in estimate(read_plan(document)).warnings}
    assert str(warned["kv_heads_not_divisible"]).startswith("Megatron-LM would refuse it: tp must divide")
    rejected = search(read_search(SEARCH | {"framework": framework})).rejected
    assert not set(rejected) & OF_MEGATRON and "heads_not_divisible" in rejected


def test_a_measured_run_is_predicted_although_a_rule_speaks_against_it() -> None:
    row = dict(ROWS[0]) | {"kv_heads": "3", "tp": "2", "dp": "16", "sequence_parallel": "yes"}
    run = read_run(row)
    assert isinstance(run, PublishedRun)
    assert "kv_heads_not_divisible" in {warning.code for warning in estimate(run.plan).warnings}


def test_layouts_to_run_say_which_rule_they_break() -> None:
    model = LLAMA_70B["model"] | {"heads": 48, "kv_heads": 6, "head_dim": 128}
    plan = read_plan(changed(LLAMA_70B | {"model": model}, tp=2, pp=8, dp=8, seq_len=8192))
    problems = {(one.tp, one.dp): [str(text) for text in one.problems] for one in ablations(plan)}
    assert any("key-value heads" in text for text in problems[(4, 2)])


@pytest.mark.parametrize("document", [GPT3_175B["model"], DEEPSEEK_V3["model"], MIXTRAL])
def test_many_at_once_are_judged_as_one_by_one(document: dict[str, Any]) -> None:
    model = read_model(Fields(document, "/model"))
    assert model is not None
    wanted = read_search(SEARCH | {"model": document, "limits": {"max_cp": 4, "max_pp": 8, "max_vpp": 2}})
    block = Layouts.joined(list(wanted.axes.blocks()))
    chosen = block.take(np.arange(0, len(block), max(1, len(block) // 300)))
    together = violations(model, chosen, accelerators=288, seq_len=4100)
    for place in range(len(chosen)):
        alone = violations(model, chosen.take(np.array([place])), accelerators=288, seq_len=4100)
        assert {code: mask[0] for code, mask in alone.items()} == {
            code: mask[place] for code, mask in together.items()
        }


@pytest.mark.parametrize(("domain", "both"), [(288, False), (72, True)])
def test_layouts_that_differ_in_an_order_that_says_nothing_are_listed_once(domain: int, both: bool) -> None:
    asked = SEARCH | {"system": SEARCH["system"] | {"domain_size": domain}}
    found = search(read_search(asked))
    orders = [
        search(read_search(asked | {"limits": SEARCH["limits"] | {"placement": [order]}}))
        for order in WORDS["placement"]
    ]
    figures = [_figures_by_sizes(one) for one in orders]
    alike = sum(figures[0][sizes] == figures[1][sizes] for sizes in figures[0])
    assert found.rejected["same_as_other_placement"] == alike > 0
    assert found.feasible == sum(one.feasible for one in orders) - alike
    assert (found.feasible > orders[0].feasible) is both
    assert all("same_as_other_placement" not in one.rejected for one in orders)
    assert found.candidates == found.feasible + sum(found.rejected.values())


def _figures_by_sizes(found: SearchResult) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Time and memory of each layout found, by everything but the order of its ranks."""
    rows = [found.table.layouts.row(place) | {"placement": 0} for place in range(len(found.table))]
    figures = zip(found.table.step_s.tolist(), found.table.peak_bytes.tolist(), strict=True)
    return dict(zip((tuple(row.values()) for row in rows), figures, strict=True))


@pytest.mark.parametrize(("domain", "warned"), [(8, False), (72, True)])
def test_a_domain_that_no_system_ships_with_is_warned_of(domain: int, warned: bool) -> None:
    plan = read_plan(changed(LLAMA_70B, domain_size=domain, accelerators=128))
    found = {warning.code: str(warning.message) for warning in estimate(plan).warnings}
    assert ("domain_above_catalogue" in found) is warned
    if warned:
        assert "up to 8 cards" in found["domain_above_catalogue"]
