"""Terms of studies: the formula and the source behind each figure that a study gives, to be shown to people."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from apps.core.texts import say
from apps.planning.engine.terms import Term

_TERMS = (
    Term(
        key="claims.speedup",
        formula=say("(cards x MFU) after / (cards x MFU) before"),
        source=say("definition of MFU"),
    ),
    Term(key="claims.time_saved", formula=say("1 - 1/speed-up"), source=say("definition")),
    Term(
        key="claims.equivalent_extra_cards", formula=say("cards x gain"), source=say("same MFU on every card")
    ),
    Term(
        key="claims.implied_mfu",
        formula=say("FLOPs / (cards x peak x time)"),
        source=say("definition of MFU"),
    ),
    Term(
        key="claims.implied_time_s",
        formula=say("FLOPs / (cards x peak x MFU)"),
        source=say("definition of MFU"),
    ),
    Term(
        key="claims.efficiency",
        formula=say("factor / (cards after / cards before)"),
        source=say("definition"),
    ),
    Term(key="claims.world", formula=say("TP x PP x DP; experts lie over TP x DP"), source="Megatron-LM"),
    Term(
        key="reliability.p_any",
        formula=say("1 - exp(-T/M), which is 1 - (1 - p)^n for a week"),
        source=say("exponential failures"),
    ),
    Term(
        key="reliability.mtbf",
        formula=say("week / (-n ln(1 - p) - domains x ln(1 - p_domain))"),
        source=say("exponential failures"),
    ),
    Term(
        key="reliability.checkpoint",
        formula=say("14 P: 2 of weights, 12 of optimizer"),
        source=say("mixed-precision Adam"),
    ),
    Term(key="reliability.young", formula=say("sqrt(2 stall M)"), source="Young 1974"),
    Term(
        key="reliability.daly",
        formula=say("sqrt(2 stall M) (1 + sqrt(stall/2M)/3 + stall/18M) - stall"),
        source="Daly 2006",
    ),
    Term(
        key="reliability.availability",
        formula=say("stall + sqrt(2 (M + R) stall + stall^2)"),
        source="Saxena et al. 2024, arXiv 2410.18124",
    ),
    Term(
        key="reliability.goodput",
        formula=say("1 - stall/T - (T/2 + drain + R)/M"),
        source="Young 1974, first order",
    ),
    Term(
        key="reliability.spares",
        formula=say("rate x repair time; spares by the binomial distribution"),
        source=say("independent repairs"),
    ),
    Term(
        key="reliability.timeout",
        formula=say("baseline x 1.5 to baseline x 2"),
        source=say("operators' practice"),
    ),
    Term(
        key="power.rack",
        formula=say("cards x W (1 + overhead) + switch trays + other"),
        source=say("parts of the rack"),
    ),
    Term(
        key="power.feed",
        formula=say("sqrt(3) x V x A x feeds (half of them if redundant) x 0.8"),
        source=say("three-phase power"),
    ),
    Term(
        key="power.fit",
        formula=say("least of places, room kW / rack kW, and 0 where cooling or feed is too small"),
        source=say("whole domains only"),
    ),
    Term(
        key="power.energy",
        formula=say("rack kW x racks x PUE / tokens per second"),
        source=say("definition of PUE"),
    ),
    Term(
        key="cost.yearly",
        formula=say("depreciation + interest on mean capital + kW x PUE x 8766 h x price + upkeep"),
        source=say("straight depreciation"),
    ),
    Term(key="cost.total", formula=say("yearly cost x years"), source=say("definition")),
    Term(
        key="cost.per_million",
        formula=say("yearly cost / (tokens/s x useful time x year) x 1e6"),
        source=say("definition"),
    ),
    Term(
        key="cost.marginal",
        formula=say("added yearly cost / added tokens of a year x 1e6"),
        source=say("definition"),
    ),
    Term(
        key="cost.break_even",
        formula=say("yearly cost of the supernode / of the ordinary cluster, same cards"),
        source=say("same cost of a token"),
    ),
    Term(key="inference.weights", formula=say("P x bytes of a weight"), source=say("definition")),
    Term(
        key="inference.kv_token",
        formula=say("2 L k d x bytes; L (rank + rope) x bytes with MLA"),
        source="DeepSeek-V2; GQA paper",
    ),
    Term(
        key="inference.kv_request",
        formula=say("cache of a token x context; windowed layers keep their window"),
        source=say("definition"),
    ),
    Term(
        key="inference.batch",
        formula=say("(memory x (1 - reserve) x cards - weights) / cache of a request x copies"),
        source=say("heads are repeated beyond k"),
    ),
    Term(
        key="inference.first_token",
        formula=say("max(2 P_active s + attention / rate, weights / bandwidth) + collectives"),
        source=say("roofline"),
    ),
    Term(
        key="inference.output_token",
        formula=say("max(FLOPs / rate, (touched weights + cache) / bandwidth) + collectives"),
        source=say("roofline"),
    ),
    Term(key="inference.balanced", formula=say("rate / bandwidth x bytes / 2"), source=say("roofline")),
    Term(
        key="inference.pool",
        formula=say("P x bytes / memory of a card, rounded up"),
        source=say("definition"),
    ),
    Term(
        key="sensitivity.step",
        formula=say("the sum of the parts of a step"),
        source=say("the planning engine"),
    ),
    Term(
        key="sensitivity.swing",
        formula=say("step with the figure lowered, less step with it raised"),
        source=say("one at a time"),
    ),
    Term(
        key="scaling.throughput",
        formula=say("B s / step of the best layout found at that size"),
        source=say("search at each size"),
    ),
    Term(
        key="scaling.efficiency",
        formula=say("tokens/s per card over that of the first size"),
        source=say("definition"),
    ),
    Term(
        key="scaling.bottleneck",
        formula=say("largest part of the step besides compute, from 5 % on"),
        source=say("the planning engine"),
    ),
    Term(
        key="envelope.per_param",
        formula=say("2 + gradients + 12; divided by the ranks from the ZeRO stage on"),
        source="Rajbhandari et al. 2019",
    ),
    Term(key="envelope.total", formula="P (2 + 2 or 4 + 12)", source=say("mixed-precision Adam")),
    Term(key="envelope.per_card", formula=say("all of it / cards"), source=say("definition")),
    Term(
        key="envelope.ring", formula=say("2 (n - 1)/n x S / B, B one way"), source="Patarasuk and Yuan 2009"
    ),
    Term(key="envelope.bubble", formula="(p - 1)/v / (m + (p - 1)/v)", source="Narayanan et al. 2021"),
    Term(key="envelope.overhead", formula="(p - 1)/(v m)", source="Narayanan et al. 2021"),
)

STUDY_TERMS: Mapping[str, Term] = MappingProxyType({term.key: term for term in _TERMS})
