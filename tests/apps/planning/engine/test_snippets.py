"""Launch snippets: what they say, and that every option name is in the tool's dated list."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import Any

import pytest

from apps.core.errors import Invalid
from apps.planning.engine.ablations import ablation_sizes, ablations
from apps.planning.engine.estimate import PlanInput, memory_ledger
from apps.planning.engine.reading import read_plan
from apps.planning.engine.snippets.deepspeed import deepspeed_config, deepspeed_json
from apps.planning.engine.snippets.megatron import megatron_arguments, megatron_options
from apps.planning.engine.snippets.options import known_tools, require_known, unknown_options
from apps.planning.engine.snippets.shell import all_reduce_perf, nodes_of, slurm_batch, torchrun
from tests.apps.planning.engine.plans import DEEPSEEK_V3, GPT3_175B, LLAMA_70B, changed


def plan(document: dict[str, Any], **parallel: Any) -> PlanInput:
    return read_plan(changed(document, **parallel))


def arguments(p: PlanInput) -> dict[str, str | None]:
    return {option.name: option.value for option in megatron_options(p)}


def test_megatron_arguments_state_the_parallel_sizes() -> None:
    said = arguments(plan(GPT3_175B))
    assert said["--tensor-model-parallel-size"] == "8"
    assert said["--pipeline-model-parallel-size"] == "8"
    assert said["--num-virtual-stages-per-pipeline-rank"] == "3"
    assert said["--recompute-granularity"] == "selective"
    assert "--sequence-parallel" in said and "--fp16" in said
    assert "--use-distributed-optimizer" not in said and "--swiglu" not in said


def test_megatron_arguments_of_a_moe_with_latent_attention() -> None:
    said = arguments(plan(DEEPSEEK_V3))
    assert said["--num-experts"] == "256" and said["--moe-router-topk"] == "8"
    assert said["--kv-lora-rank"] == "512" and said["--q-lora-rank"] == "1536"
    assert said["--expert-model-parallel-size"] == "64"
    assert said["--moe-layer-freq"] == "'([0]*3+[1]*58)'"
    assert said["--pipeline-model-parallel-layout"].endswith("tttmL'")
    assert said["--fp8-format"] == "hybrid"


def layers_told(p: PlanInput) -> list[int] | None:
    """Layers of each stage as Megatron-LM reads its arguments; None where it would not start."""
    said, stages, total = arguments(p), int(p.layout.pp[0]), p.model.layers
    if (letters := said.get("--pipeline-model-parallel-layout")) is not None:
        assert "--num-virtual-stages-per-pipeline-rank" not in said
        parts = re.sub(r"\(([^)]*)\)\*(\d+)", lambda m: m[1] * int(m[2]), letters.strip("'")).split("|")
        assert len(parts) == stages * int(p.layout.vpp[0])
        assert parts[0].startswith("E") and parts[-1].endswith("L")
        return [
            sum(len(re.findall("[tm]", part)) for part in parts[stage::stages]) for stage in range(stages)
        ]
    first = int(said.get("--decoder-first-pipeline-num-layers") or total // stages)
    last = int(said.get("--decoder-last-pipeline-num-layers") or total // stages)
    between, left = divmod(total - first - last, stages - 2)
    return None if left else [first, *[between] * (stages - 2), last + p.model.mtp_layers]


@pytest.mark.parametrize(
    ("document", "sizes"),
    [
        (LLAMA_70B, {}),
        (LLAMA_70B, {"pp": 9, "dp": 2, "accelerators": 144, "global_batch": 144}),
        (LLAMA_70B, {"pp": 18, "dp": 1, "accelerators": 144, "global_batch": 144}),
        (LLAMA_70B, {"pp": 9, "dp": 2, "vpp": 3, "accelerators": 144, "global_batch": 144}),
        (LLAMA_70B, {"vpp": 4}),
        (DEEPSEEK_V3, {}),
        (DEEPSEEK_V3, {"vpp": 2}),
    ],
)
def test_megatron_is_told_to_hold_the_layers_that_the_plan_counts(
    document: dict[str, Any], sizes: dict[str, int]
) -> None:
    p = plan(document, **sizes)
    assert layers_told(p) == [stage.layers for stage in memory_ledger(p).stages]


def test_even_layers_need_no_words() -> None:
    assert not {"--decoder-first-pipeline-num-layers", "--pipeline-model-parallel-layout"} & set(
        arguments(plan(LLAMA_70B, vpp=4))
    )


@pytest.mark.parametrize(
    ("zero", "strategy"), [(0, None), (1, None), (2, "optim_grads"), (3, "optim_grads_params")]
)
def test_megatron_shards_what_the_plan_shards(zero: int, strategy: str | None) -> None:
    said = arguments(plan(LLAMA_70B, pp=1, dp=16, zero=zero))
    assert said.get("--data-parallel-sharding-strategy") == strategy
    assert ("--use-megatron-fsdp" in said) is (zero >= 2)
    assert ("--use-distributed-optimizer" in said) is (zero >= 1)


def test_tensor_parallel_overlap_is_asked_for_with_sequence_parallelism_only() -> None:
    hidden = {"overlap": {"tp": True}}
    assert "--tp-comm-overlap" in arguments(plan(LLAMA_70B, **hidden))
    assert "--tp-comm-overlap" not in arguments(plan(LLAMA_70B, sequence_parallel=False, **hidden))


def test_grouped_heads_are_stated() -> None:
    assert arguments(plan(LLAMA_70B))["--num-query-groups"] == "8"


def test_deepspeed_keeps_overlap_inside_zero_optimization() -> None:
    config = deepspeed_config(plan(LLAMA_70B, pp=1, dp=16, zero=3, tp=8, framework="deepspeed"))
    assert not {"overlap_comm", "contiguous_gradients", "reduce_bucket_size"} & config.keys()
    assert config["zero_optimization"]["overlap_comm"] is True
    assert 5e8 <= config["zero_optimization"]["reduce_bucket_size"] <= 1e9
    assert config["gradient_accumulation_steps"] * 16 * config["train_micro_batch_size_per_gpu"] == 256


def test_deepspeed_json_is_json() -> None:
    assert json.loads(deepspeed_json(plan(GPT3_175B)))["fp16"] == {"enabled": True}


def test_torchrun_has_a_node_rank_that_differs_per_host() -> None:
    line = torchrun(plan(LLAMA_70B), cards_per_node=8)
    assert '--node-rank "$NODE_RANK"' in line
    assert "--nnodes 16" in line and "--nproc-per-node 8" in line


def test_all_reduce_perf_starts_one_process_a_card() -> None:
    line = all_reduce_perf(plan(LLAMA_70B), cards_per_node=8)
    assert "-np 128" in line and line.rstrip().endswith("all_reduce_perf -b 8 -e 8G -f 2 -g 1")


@pytest.mark.parametrize("document", [LLAMA_70B, DEEPSEEK_V3, GPT3_175B])
def test_scripts_are_sound_for_a_shell(document: dict) -> None:
    p = plan(document)
    for script in (slurm_batch(p, cards_per_node=4), torchrun(p, cards_per_node=4)):
        checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        assert checked.returncode == 0, checked.stderr
    words = shlex.split(torchrun(p, cards_per_node=4).replace("\\\n", " "))
    assert words[0] == "torchrun" and "pretrain_gpt.py" in words


def test_a_slurm_script_keeps_segments_in_a_domain() -> None:
    script = slurm_batch(plan(DEEPSEEK_V3, domain_size=64), cards_per_node=4)
    assert "#SBATCH --nodes=64" in script and "#SBATCH --segment=16" in script
    assert nodes_of(plan(DEEPSEEK_V3), 4) == 64


def test_every_list_is_dated_and_an_unknown_name_is_refused() -> None:
    for tool in known_tools().values():
        assert re.match(r"20\d\d-\d\d-\d\d", tool.checked)
    assert unknown_options("torchrun", ["--nnodes", "--node_rnk"]) == ("--node_rnk",)
    with pytest.raises(Invalid):
        require_known("megatron_lm", ["--tensor-parallel"])


def test_the_ablations_of_144_cards_are_the_three_and_one_more() -> None:
    sizes = [(tp, pp, dp) for tp, pp, dp, _ in ablation_sizes(144)]
    assert sizes[:3] == [(8, 18, 1), (16, 9, 1), (8, 9, 2)]


def test_ablations_carry_predictions_or_reasons() -> None:
    document = changed(LLAMA_70B, tp=8, pp=18, dp=1, accelerators=144, domain_size=72, global_batch=144)
    found = ablations(read_plan(document))
    assert all((item.prediction is None) == bool(item.problems) for item in found)
    assert found[0].prediction is not None
    assert "--tensor-model-parallel-size 8" in megatron_arguments(found[0].plan)
    assert "uneven_stages" in {w.code for w in found[0].prediction.warnings}
