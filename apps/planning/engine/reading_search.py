"""Reading a search: JSON to SearchInput, with a pointer for everything that is wrong."""

from __future__ import annotations

from collections.abc import Mapping

from apps.catalogue.engine.models import ModelSpec
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.planning.engine.candidates import Axes, Limits, axes, card_counts
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.layouts import Placement, Recompute
from apps.planning.engine.reading import stop_if_wrong
from apps.planning.engine.reading_model import check_card, read_model, read_system
from apps.planning.engine.reading_parallel import PLACEMENTS, RECOMPUTE, read_options
from apps.planning.engine.search import Objective, SearchInput
from apps.planning.engine.token_cost import TokenPrices

LONG_SEQUENCE = 16_384  # tokens from which context parallelism is tried unasked
DEFAULT_MAX_CP = 8


def read_search(document: object) -> SearchInput:
    """The search of a parsed JSON document. Raises Invalid with one error per problem found.

    Training options (framework, overlap, gradient_dtype ...) stand beside global_batch, as in `parallel`.
    """
    if not isinstance(document, Mapping):
        error = FieldError(pointer="", message=say("a search is a JSON object"), code="type")
        raise Invalid(say("a search is a JSON object"), errors=[error])
    root = Fields(document, "")
    model_fields, system_fields = root.child("model"), root.child("system")
    limits_fields, price_fields = root.child("limits", required=False), root.child("prices", required=False)
    global_batch, seq_len = root.whole("global_batch"), root.whole("seq_len")
    options = read_options(root)
    objective = Objective(root.choice("objective", list(Objective), default="tokens_per_s"))
    top, prices = root.whole("top", default=10, most=1000), _read_prices(price_fields)
    stop_if_wrong(root)
    model = read_model(model_fields)
    stop_if_wrong(root)
    system, assumed = read_system(system_fields)
    assert model is not None
    limits = _read_limits(limits_fields, model, seq_len)
    stop_if_wrong(root)
    assert system is not None
    sizes = _axes(model, system.accelerators, global_batch, seq_len, limits, limits_fields)
    check_card(system, options.precision, system_fields=system_fields, precision_fields=root)
    stop_if_wrong(root)
    unused = [f.unused() for f in (root, model_fields, system_fields, limits_fields, price_fields)]
    return SearchInput(
        model=model,
        system=system,
        options=options,
        axes=sizes[0],
        limits=limits,
        fewer=sizes[1:],
        seq_len=seq_len,
        objective=objective,
        prices=prices,
        top=top,
        assumptions=assumed,
        ignored=tuple(pointer for pointers in unused for pointer in pointers),
    )


def _read_prices(fields: Fields) -> TokenPrices:
    hour, kwh = fields.number("accelerator_hour", default=1.0), fields.number("kwh", default=0.0, least=0.0)
    return TokenPrices(accelerator_hour=hour or 1.0, kwh=kwh or 0.0)


def _axes(
    model: ModelSpec, accelerators: int, global_batch: int, seq_len: int, limits: Limits, fields: Fields
) -> tuple[Axes, ...]:
    """What to combine with all accelerators, then with each smaller number that the limits allow."""
    least = limits.min_accelerators or accelerators
    if least > accelerators:
        message = say(
            "min_accelerators must be at most %(accelerators)s, as many as the system has",
            accelerators=accelerators,
        )
        fields.wrong("min_accelerators", message, "out_of_range")
        return ()
    return tuple(
        axes(model, accelerators=count, global_batch=global_batch, seq_len=seq_len, limits=limits)
        for count in card_counts(accelerators, least)
    )


def _read_limits(fields: Fields, model: ModelSpec, seq_len: int) -> Limits:
    usual = Limits(
        max_cp=DEFAULT_MAX_CP if seq_len >= LONG_SEQUENCE else 1,
        max_ep=model.experts if model.is_moe else 1,
    )
    return Limits(
        max_tp=fields.whole("max_tp", default=usual.max_tp),
        max_pp=fields.whole("max_pp", default=usual.max_pp),
        max_vpp=fields.whole("max_vpp", default=usual.max_vpp),
        max_cp=fields.whole("max_cp", default=usual.max_cp),
        max_ep=fields.whole("max_ep", default=usual.max_ep),
        max_micro_batch=fields.whole("max_micro_batch", default=usual.max_micro_batch),
        recompute=tuple(Recompute(RECOMPUTE[name]) for name in fields.words("recompute", list(RECOMPUTE))),
        zero=fields.wholes("zero", (0, 1, 2, 3)),
        placement=tuple(Placement(PLACEMENTS[n]) for n in fields.words("placement", list(PLACEMENTS))),
        min_accelerators=fields.whole("min_accelerators") if fields.has("min_accelerators") else None,
    )
