"""Reading a model and a system from the JSON of a plan."""

from __future__ import annotations

from apps.catalogue.engine.models import MlaSpec, ModelSpec
from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.estimate import Assumption
from apps.planning.engine.json_fields import Fields, guarded
from apps.planning.engine.reading_part import read_part
from apps.planning.engine.system import (
    Measured,
    System,
    default_scale_up,
    default_system,
    half_peak_flops,
    peak_flops,
)
from apps.planning.engine.workload import Precision

GB = 1e9


def read_model(fields: Fields) -> ModelSpec | None:
    """The model's shape; None, with errors noted, where it is not sound."""
    mla = _read_mla(fields.child("mla", required=False)) if fields.has("mla") else None
    experts = fields.whole("experts", default=0, least=0)
    ffn = fields.whole("ffn_hidden", least=0)
    values = {
        "layers": fields.whole("layers", most=10_000),
        "hidden": fields.whole("hidden"),
        "heads": fields.whole("heads"),
        "vocab": fields.whole("vocab"),
        "kv_heads": fields.whole("kv_heads", default=0, least=0),
        "head_dim": fields.whole("head_dim", default=0, least=0),
        "ffn_hidden": ffn,
        "learned_positions": fields.whole("learned_positions", default=0, least=0),
        "experts": experts,
        "topk": fields.whole("topk", default=0, least=0),
        "expert_ffn_hidden": fields.whole("expert_ffn_hidden", default=ffn if experts else 0, least=0),
        "shared_expert_ffn_hidden": fields.whole("shared_expert_ffn_hidden", default=0, least=0),
        "dense_layers": fields.whole("dense_layers", default=0, least=0),
        "mtp_layers": fields.whole("mtp_layers", default=0, least=0, most=100),
        "attention_window": fields.whole("attention_window", default=0, least=0),
        "windowed_layers": fields.whole("windowed_layers", default=0, least=0),
    }
    gated = fields.flag("gated_mlp", default=True)
    tied = fields.flag("tied_embeddings", default=False)
    biases = fields.flag("biases", default=not gated)
    name = fields.text("name")
    return guarded(
        fields,
        lambda: ModelSpec(**values, gated_mlp=gated, tied_embeddings=tied, biases=biases, mla=mla, name=name),
    )


MLA_SYMBOLS = {
    "r_q": "q_lora_rank",
    "r_kv": "kv_lora_rank",
    "d_nope": "qk_nope_head_dim",
    "d_rope": "qk_rope_head_dim",
    "d_v": "v_head_dim",
}


def _read_mla(fields: Fields) -> MlaSpec:
    """Widths of latent attention, by the names of published configurations or by the paper's symbols."""
    fields.data = {MLA_SYMBOLS.get(key, key): value for key, value in fields.data.items()}
    return MlaSpec(
        kv_lora_rank=fields.whole("kv_lora_rank"),
        qk_nope_head_dim=fields.whole("qk_nope_head_dim"),
        qk_rope_head_dim=fields.whole("qk_rope_head_dim", least=0),
        v_head_dim=fields.whole("v_head_dim"),
        q_lora_rank=fields.whole("q_lora_rank", default=0, least=0) or None,
    )


def read_system(fields: Fields) -> tuple[System | None, tuple[Assumption, ...]]:
    """The system, and which of its figures come from the catalogue, shipped or a team's own."""
    count = fields.whole("accelerators", most=10_000_000)
    domain = fields.whole("domain_size", default=0, least=0)
    up, out = fields.number("scale_up_gb_s"), fields.number("scale_out_gb_s")
    sub_domain = fields.whole("sub_domain_size") if fields.has("sub_domain_size") else None
    convergence = fields.number("convergence_ratio", default=1.0) or 1.0
    measured = _read_measured(fields.child("measured", required=False))
    part, own = read_part(fields)
    if part is None:
        return None, ()
    system = guarded(
        fields,
        lambda: default_system(
            part,
            count,
            domain_size=domain or None,
            scale_up_bytes_per_s=up * GB if up else None,
            scale_out_bytes_per_s=out * GB if out else None,
            sub_domain_size=sub_domain,
            convergence=convergence,
            measured=measured,
        ),
    )
    if system is None:
        return None, ()
    return system, own + _from_catalogue(system, domain=bool(domain), up=up is not None, out=out is not None)


def _from_catalogue(system: System, *, domain: bool, up: bool, out: bool) -> tuple[Assumption, ...]:
    """Assumptions for the figures that were not given."""
    part = system.accelerator
    linked = part.scale_up.unidirectional_bytes_per_s is not None
    assumed = []
    if not domain:
        assumed.append(
            Assumption(name="domain_size", value=system.domain_size, source=f"catalogue, {part.id}")
        )
    if not up:
        source = say("catalogue, %(id)s, one way", id=part.id) if linked else "PCIe 4 x16"
        assumed.append(Assumption(name="scale_up_gb_s", value=default_scale_up(part) / GB, source=source))
    if not out:
        assumed.append(
            Assumption(
                name="scale_out_gb_s",
                value=system.scale_out_bytes_per_s / GB,
                source=say("usual network of %(architecture)s systems", architecture=part.architecture),
                uncertain=True,
            )
        )
    return tuple(assumed)


def check_card(
    system: System, precision: Precision, *, system_fields: Fields, precision_fields: Fields
) -> None:
    """Note what the card lacks for a prediction: memory, bandwidth, or a peak for the format."""
    part = system.accelerator
    if part.memory_bytes is None or part.memory_bytes_per_s is None:
        system_fields.wrong(
            "accelerator", say("memory or bandwidth of %(id)s is not known", id=part.id), "unknown"
        )
    try:
        peak_flops(part, precision)
    except OutOfRange as refused:
        precision_fields.wrong("precision", refused.message, refused.code)
    try:
        half_peak_flops(part)
    except OutOfRange as refused:
        system_fields.wrong("accelerator", refused.message, "unknown")


def _read_measured(fields: Fields) -> Measured:
    up, out = fields.number("scale_up_busbw_gb_s"), fields.number("scale_out_busbw_gb_s")
    fields.seen.add("said")  # the source's template and values, for pages in other languages
    return Measured(
        scale_up_bytes_per_s=up * GB if up else None,
        scale_out_bytes_per_s=out * GB if out else None,
        compute_scale=fields.number("compute_scale"),
        step_scale=fields.number("step_scale"),
        source=fields.text("source", default=say("measured on this cluster")),
    )
