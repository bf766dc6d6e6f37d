"""Words of benchmarks for people: why a run was accepted or not, and what the next step is."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.texts import Text, say

REASONS: dict[str, Text] = {
    "as_fast_as_it_should": say(
        "The bandwidth at the largest size is at least 80 % of the interconnect's theory."
    ),
    "too_slow": say("The bandwidth at the largest size is below 80 % of the interconnect's theory."),
    "wrong_results": say("The collective delivered wrong data; no speed makes up for that."),
    "not_complete": say("The tool did not reach its summary: the run ended early, or its output was cut."),
    "no_measurement": say("There is no bandwidth between at least two ranks in this output."),
    "collective_unknown": say("The output does not say which collective ran; a person can state it."),
    "theory_unknown": say(
        "The run belongs to no domain, or the domain's bandwidth per accelerator is not known."
    ),
    "not_validated": say("It is fast enough, but the run did not check the data that it delivered."),
    "size_too_small": say(
        "The largest message is below 1 GiB, where latency still shapes the figure; measure larger ones."
    ),
    "above_theory": say(
        "The bandwidth is above theory: reduction in the network, or the domain's theory is wrong."
    ),
    "leaves_domain": say(
        "The run spans more accelerators than the domain has: the network between domains takes part, and the "
        "theory inside a domain does not judge it."
    ),
    "independent_runs": say(
        "Rank numbers repeat: several programs ran on their own, so nothing was measured between them."
    ),
    "single_rank": say("Only one rank ran; nothing was sent."),
    "ranks_share_gpu": say("Several ranks ran on one accelerator; this measures no links."),
    "partitioned_gpu": say("A rank ran on a partition of an accelerator."),
    "wrong_data": say("Rows report wrong data."),
    "out_of_bounds": say("The tool found values out of bounds."),
    "factor_contradicts": say(
        "Bus and algorithm bandwidth do not stand in the ratio of this collective and rank count."
    ),
    "algbw_contradicts_time": say("In some rows size over time is not the printed bandwidth."),
    "busbw_contradicts_algbw": say(
        "In some rows bus and algorithm bandwidth stand in another ratio than in the others."
    ),
    "size_contradicts_count": say("In some rows size and count do not go together."),
    "average_contradicts_rows": say(
        "The printed average is not that of the rows: rows are missing or were edited."
    ),
    "cpu_time": say("Times are those of the CPU; the bandwidths mean nothing."),
    "sizes_descend": say("Sizes descend in between: rows of several sweeps are mixed."),
}
ADVICE: dict[str, str | Promise] = {
    "ok": _("Growth is within 15 % of the ideal."),
    "check_topology_and_scheduling": _(
        "More than 15 % is lost in this step: look at topology and scheduling first, not at the cards."
    ),
}
COLLECTIVES: dict[str, str] = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "send/recv",
    "gather": "gather",
    "scatter": "scatter",
    "hypercube": "hypercube",
}
