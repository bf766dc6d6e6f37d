"""Words of benchmarks for people: why a run was accepted or not, and what the next step is."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

REASONS: dict[str, str | Promise] = {
    "as_fast_as_it_should": _(
        "The bandwidth at the largest size is at least 80 % of the interconnect's theory."
    ),
    "too_slow": _("The bandwidth at the largest size is below 80 % of the interconnect's theory."),
    "wrong_results": _("The collective delivered wrong data; no speed makes up for that."),
    "not_complete": _("The tool did not reach its summary: the run ended early, or its output was cut."),
    "no_measurement": _("There is no bandwidth between at least two ranks in this output."),
    "collective_unknown": _("The output does not say which collective ran; a person can state it."),
    "theory_unknown": _(
        "The run belongs to no domain, or the domain's bandwidth per accelerator is not known."
    ),
    "not_validated": _("It is fast enough, but the run did not check the data that it delivered."),
    "size_too_small": _(
        "The largest message is below 1 GiB, where latency still shapes the figure; measure larger ones."
    ),
    "above_theory": _(
        "The bandwidth is above theory: reduction in the network, or the domain's theory is wrong."
    ),
    "leaves_domain": _(
        "The run spans more accelerators than the domain has: the network between domains takes part, and the "
        "theory inside a domain does not judge it."
    ),
    "independent_runs": _(
        "Rank numbers repeat: several programs ran on their own, so nothing was measured between them."
    ),
    "single_rank": _("Only one rank ran; nothing was sent."),
    "ranks_share_gpu": _("Several ranks ran on one accelerator; this measures no links."),
    "partitioned_gpu": _("A rank ran on a partition of an accelerator."),
    "wrong_data": _("Rows report wrong data."),
    "out_of_bounds": _("The tool found values out of bounds."),
    "factor_contradicts": _(
        "Bus and algorithm bandwidth do not stand in the ratio of this collective and rank count."
    ),
    "algbw_contradicts_time": _("In some rows size over time is not the printed bandwidth."),
    "busbw_contradicts_algbw": _(
        "In some rows bus and algorithm bandwidth stand in another ratio than in the others."
    ),
    "size_contradicts_count": _("In some rows size and count do not go together."),
    "average_contradicts_rows": _(
        "The printed average is not that of the rows: rows are missing or were edited."
    ),
    "cpu_time": _("Times are those of the CPU; the bandwidths mean nothing."),
    "sizes_descend": _("Sizes descend in between: rows of several sweeps are mixed."),
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
