"""Terms: the formula and source behind each figure of an estimate, for showing beside it."""

from __future__ import annotations

from dataclasses import dataclass

from apps.core.texts import say


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One figure of an estimate: its key there, the formula with the symbols of the literature, and the source.

    s sequence, b micro-batch, B global batch, h hidden, a heads, L layers, V vocabulary, t p v D c e parallel
    sizes, m micro-batches of a replica, n ranks of a group, P parameters of a rank.
    """

    key: str
    formula: str
    source: str


TERMS = (
    Term(key="memory.weights_bytes", formula=say("2 P; 2 P/D with ZeRO 3"), source="Rajbhandari et al. 2019"),
    Term(
        key="memory.gradients_bytes",
        formula=say("4 P in fp32 or 2 P in 16 bit; over D from ZeRO 2"),
        source="Rajbhandari et al. 2019; Megatron-LM",
    ),
    Term(
        key="memory.optimizer_bytes",
        formula=say("12 P; 12 P/D from ZeRO 1"),
        source="Rajbhandari et al. 2019",
    ),
    Term(
        key="memory.activations_bytes",
        formula=say(
            "layers in flight x s b h (34 + 5 a s/h)/t, terms by width; 2 s b h with full recomputation"
        ),
        source="Korthikanti et al. 2022",
    ),
    Term(key="memory.logits_bytes", formula=say("4 s b V/t on the last stage"), source="Megatron-LM"),
    Term(
        key="memory.buffers_bytes",
        formula=say("context + buffers per communicator + two gathered layers with ZeRO 3 + fragmentation"),
        source=say("stated coefficients"),
    ),
    Term(
        key="time.compute_s",
        formula=say(
            "m x slowest stage: products (2 M N K + tile loss)/rate + bytes/bandwidth, attention, kernels"
        ),
        source=say("fitted coefficients"),
    ),
    Term(
        key="time.tp_s",
        formula=say("4 all-reduces of 2 s b h a layer (6 with full recomputation), less what overlaps"),
        source="Shoeybi et al. 2019; Korthikanti et al. 2022",
    ),
    Term(
        key="time.cp_s",
        formula=say("max(0, (c - 1) blocks of keys and values - overlap x attention)"),
        source="Liu et al. 2023",
    ),
    Term(
        key="time.ep_s",
        formula=say("4 all-to-all of e (1 - (1 - 1/e)^K) copies of each token a layer"),
        source="DeepSeek-V3 technical report",
    ),
    Term(
        key="time.pp_s",
        formula=say("(v m + 2 (p - 1)) messages of 2 s b h/t"),
        source="Narayanan et al. 2021",
    ),
    Term(
        key="time.dp_s",
        formula=say("2 (n-1)/n of the gradients, or scatter and gather, less overlap x window"),
        source="Rajbhandari et al. 2019",
    ),
    Term(
        key="time.bubble_s",
        formula=say("(p - 1)/v mean stages; a third of p - 1 with zero-bubble"),
        source="Narayanan et al. 2021; Qi et al. 2023",
    ),
    Term(
        key="time.optimizer_s",
        formula=say("30 bytes x parameters updated / bandwidth"),
        source=say("Adam in fp32"),
    ),
    Term(
        key="time.other_s",
        formula=say("fixed host work + stragglers x log2(hosts)"),
        source=say("fitted coefficients"),
    ),
    Term(
        key="mfu",
        formula=say(
            "72 B s L h^2 (1 + s/6h + V/12Lh) / (time x cards x peak), by matrices and attention width"
        ),
        source="Korthikanti et al. 2022",
    ),
    Term(
        key="energy_j_per_token",
        formula=say("TDP x (compute + optimizer + waiting share x rest + host share x step) / (s B) x cards"),
        source="operations.yaml, power",
    ),
    Term(
        key="hfu",
        formula=say("mfu with the FLOPs that recomputation repeats"),
        source="Narayanan et al. 2021",
    ),
)
