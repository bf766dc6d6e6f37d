"""The wizard of plans: model, system and layout from a form to the planner's document. Rules live in the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.accelerators import shipped_accelerators
from apps.catalogue.engine.hf_config import model_from_config
from apps.catalogue.engine.model_catalogue import model_named
from apps.catalogue.engine.models import ModelSpec
from apps.catalogue.queries import edited_accelerators
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid
from apps.core.foreign import why
from apps.core.rights import Right
from apps.core.texts import say
from apps.fleet.models import Cluster, Domain
from apps.fleet.queries import clusters_visible
from apps.planning import queries
from apps.planning.catalogue_choices import accelerator_choices, model_choices
from apps.planning.documents import model_document
from apps.planning.engine.reading_parallel import COMPRESSED_BYTES, GRADIENT_BYTES
from apps.planning.engine.workload import Precision
from apps.planning.input_words import FRAMEWORKS, OBJECTIVES, RECOMPUTATIONS, SCHEDULES

MOST_SHOWN = 50  # layouts that a search keeps for its table
MOST_CONFIG = 100_000  # characters of a config.json

SHAPE = ("layers", "hidden", "ffn_hidden", "heads", "kv_heads", "head_dim", "vocab")
EXPERTS = ("experts", "topk", "expert_ffn_hidden", "shared_expert_ffn_hidden", "dense_layers", "mtp_layers")
SIZES = ("tp", "pp", "vpp", "dp", "cp", "ep", "micro_batch", "global_batch", "seq_len", "zero")
HARDWARE = ("accelerator", "accelerators", "domain_size", "sub_domain_size", "convergence_ratio")
HARDWARE += ("scale_up_gb_s", "scale_out_gb_s")
PRICES = ("accelerator_hour", "kwh")
TRAFFIC = ("tp", "dp", "pp", "cp", "ep")
HIDDEN, EXPOSED = "hidden", "exposed"
# what a document may say and the wizard does not ask: the next version keeps it
_KEPT = ("attention", "dropout", "fused_cross_entropy", "expert_imbalance", "routed_domains")
_KEPT += ("in_network_reduction", "graphs")
_KEPT_OF_LAYOUT = ("etp", "placement")


def _whole(label: Any, *, least: int = 1, required: bool = False, help_text: Any = "") -> forms.IntegerField:
    return forms.IntegerField(min_value=least, required=required, label=label, help_text=help_text)


def _number(label: Any, help_text: Any = "") -> forms.FloatField:
    return forms.FloatField(min_value=0, required=False, label=label, help_text=help_text)


def _overlap(label: Any) -> forms.ChoiceField:
    choices = [("", _("as the recipe does")), (HIDDEN, _("behind compute")), (EXPOSED, _("exposed"))]
    return forms.ChoiceField(choices=choices, required=False, label=label)


class PlanForm(forms.Form):
    """Everything that a plan's document holds, in the order of the wizard: question, model, system, layout."""

    name = forms.CharField(max_length=120, label=_("Name"))
    question = forms.ChoiceField(
        choices=[
            ("estimate", _("Does this layout fit, and how fast is it?")),
            ("search", _("Which layout is best?")),
        ],
        widget=forms.RadioSelect,
        label=_("Question"),
    )

    model_source = forms.ChoiceField(
        choices=[
            ("catalogue", _("from the catalogue")),
            ("config", _("from a Hugging Face config.json")),
            ("shape", _("by hand")),
        ],
        widget=forms.RadioSelect,
        label=_("Model"),
    )
    catalogue_model = forms.ChoiceField(required=False, label=_("Model of the catalogue"))
    config = forms.CharField(
        required=False,
        max_length=MOST_CONFIG,
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
        label="config.json",
        help_text=_("Paste the file as it stands beside the weights, or choose it below."),
    )
    config_file = forms.FileField(
        required=False,
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
        label=_("config.json as a file"),
    )
    layers, hidden, ffn_hidden = (
        _whole(_("Layers")),
        _whole(_("Hidden width")),
        _whole(_("Width of the MLP"), least=0),
    )
    heads, kv_heads = _whole(_("Attention heads")), _whole(_("Key and value heads"), least=0)
    head_dim, vocab = _whole(_("Width of a head"), least=0), _whole(_("Vocabulary"))
    gated_mlp = forms.BooleanField(required=False, label=_("Gated MLP (SwiGLU)"))
    tied_embeddings = forms.BooleanField(required=False, label=_("Input and output embeddings are one"))
    experts, topk = _whole(_("Experts"), least=0), _whole(_("Experts per token"), least=0)
    expert_ffn_hidden = _whole(_("Width of an expert"), least=0)
    shared_expert_ffn_hidden = _whole(_("Width of shared experts"), least=0)
    dense_layers = _whole(_("First layers without experts"), least=0)
    mtp_layers = _whole(_("Multi-token prediction layers"), least=0)

    domain = forms.ModelChoiceField(
        Domain.objects.none(),
        required=False,
        label=_("Domain of the fleet"),
        empty_label=_("hypothetical hardware"),
        help_text=_("Sizes and bandwidth come from the fleet, measured where a run was accepted."),
    )
    cluster = forms.ModelChoiceField(
        Cluster.objects.none(),
        required=False,
        label=_("Who may read it"),
        empty_label=_("choose one"),
        help_text=_("For hypothetical hardware: everybody who may read this cluster."),
    )
    use_measured = forms.BooleanField(
        required=False, label=_("Use the bandwidth that was measured on the domain")
    )
    accelerator = forms.ChoiceField(required=False, label=_("Accelerator"))
    accelerators = _whole(_("Number of accelerators"), help_text=_("Of a domain: empty takes all of them."))
    domain_size = _whole(_("Accelerators in one scale-up domain"))
    sub_domain_size = _whole(_("Accelerators in one sub-domain"))
    convergence_ratio = _number(_("Convergence ratio"), _("2 means 2:1."))
    scale_up_gb_s = _number(_("Scale-up, one way"), _("Per accelerator; empty takes the catalogue's figure."))
    scale_out_gb_s = _number(_("Scale-out, one way"), _("Per accelerator; empty takes the usual network."))

    tp, pp, dp = (
        _whole(_("Tensor (TP)")),
        _whole(_("Pipeline (PP)")),
        _whole(_("Data (DP)"), help_text=_("Empty: what the others leave.")),
    )
    cp, ep, vpp = _whole(_("Context (CP)")), _whole(_("Expert (EP)")), _whole(_("Virtual stages (VPP)"))
    micro_batch = _whole(_("Micro-batch"))
    global_batch = _whole(_("Global batch, sequences"), required=True)
    seq_len = _whole(_("Sequence length, tokens"), required=True)
    precision = forms.ChoiceField(choices=[(p.value, p.value) for p in Precision], label=_("Precision"))
    recompute = forms.ChoiceField(
        choices=list(RECOMPUTATIONS.items()), required=False, label=_("Recomputation")
    )
    schedule = forms.ChoiceField(
        choices=list(SCHEDULES.items()), required=False, label=_("Pipeline schedule")
    )
    zero = forms.TypedChoiceField(
        choices=[
            (0, _("0: nothing is sharded")),
            (1, _("1: optimizer")),
            (2, _("2: and gradients")),
            (3, _("3: and weights")),
        ],
        coerce=int,
        empty_value=0,
        required=False,
        label="ZeRO",
    )
    sequence_parallel = forms.BooleanField(required=False, label=_("Sequence parallel"))
    framework = forms.ChoiceField(choices=list(FRAMEWORKS.items()), required=False, label=_("Framework"))
    reserve_percent = forms.FloatField(
        min_value=0,
        max_value=90,
        required=False,
        label=_("Memory kept free"),
        help_text=_("10 unless you say otherwise."),
    )
    gradient_dtype = forms.ChoiceField(
        choices=[("", _("as the framework does")), *((name, name) for name in GRADIENT_BYTES)],
        required=False,
        label=_("Type of gradients"),
    )
    gradient_compression = forms.ChoiceField(
        choices=[(name, _("none") if name == "none" else name) for name in COMPRESSED_BYTES],
        required=False,
        label=_("Compression of gradients"),
        help_text=_("How they are sent; they are summed as they are."),
    )
    overlap_tp, overlap_dp = _overlap(_("Tensor-parallel traffic")), _overlap(_("Gradients and weights"))
    overlap_pp, overlap_cp = _overlap(_("Pipeline messages")), _overlap(_("Rings of context parallelism"))
    overlap_ep = _overlap(_("All-to-all of experts"))

    min_accelerators = _whole(
        _("With how few accelerators"),
        help_text=_("Empty: all of them are used. Else smaller numbers are tried, too."),
    )
    accelerator_hour = _number(
        _("Price of an accelerator hour"), _("In any currency. Empty: costs are in accelerator hours.")
    )
    kwh = _number(_("Price of a kWh"), _("With its cooling. Empty: in the price of the hour."))
    objective = forms.ChoiceField(choices=list(OBJECTIVES.items()), required=False, label=_("Best means"))

    def __init__(
        self,
        data: QueryDict | None = None,
        files: MultiValueDict[str, UploadedFile] | None = None,
        *,
        actor: Actor,
        revises: bool = False,
        base: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """base: the document of the version before; what it says beyond the wizard stays."""
        super().__init__(_with_file(data, files), **kwargs)
        self.base = base or {}
        clusters = clusters_visible(actor)
        if (scopes := actor.scope_ids(Right.OPERATE)) is not None:
            clusters = clusters.filter(scope_id__in=scopes)
        self._field("domain").queryset = queries.domains_to_plan_for(actor)
        self._field("domain").label_from_instance = lambda domain: f"{domain.cluster} · {domain}"
        self._field("cluster").queryset = clusters
        self._field("catalogue_model").choices = model_choices()
        parts = [part.id for part in shipped_accelerators().values() if part.memory_bytes]
        cards = accelerator_choices({*parts, *edited_accelerators(scopes)})
        self._field("accelerator").choices = [("", "—"), *cards]
        if revises:
            del self.fields["name"]

    def _field(self, name: str) -> Any:
        return self.fields[name]

    @property
    def states_overlap(self) -> bool:
        """Whether anything is said about which traffic overlaps."""
        return any(self[f"overlap_{name}"].value() for name in TRAFFIC)

    def scope_id(self) -> int:
        """Where the plan belongs. Raises Invalid where neither domain nor cluster is chosen."""
        domain, cluster = self.cleaned_data["domain"], self.cleaned_data["cluster"]
        if domain is not None:
            return int(domain.cluster.scope_id)
        if cluster is not None:
            return int(cluster.scope_id)
        message = _("choose a domain, or who may read a plan for hypothetical hardware")
        raise Invalid(message, errors=[FieldError(pointer="/cluster", message=message)])

    def document(self) -> dict[str, Any]:
        """The planner's document. Raises Invalid where the model cannot be read or is not chosen."""
        data = self.cleaned_data
        document: dict[str, Any] = {"model": self._model(), "system": self._system()}
        if data["question"] == "search":
            return document | self._wishes() | self._options() | {"top": MOST_SHOWN}
        sizes = _given(data, (*SIZES, "recompute", "schedule"))
        sizes.setdefault("dp", _replicas_left(document["system"], sizes))
        before = self.base.get("parallel", {})
        kept = {name: before[name] for name in _KEPT_OF_LAYOUT if name in before}
        sharding = {"sequence_parallel": data["sequence_parallel"]}
        return document | {"parallel": kept | sizes | sharding | self._options()}

    def _options(self) -> dict[str, Any]:
        """Options of the training, which layouts and searches have alike."""
        data, before = self.cleaned_data, self.base.get("parallel", self.base)
        options = {name: before[name] for name in _KEPT if name in before}
        options |= {"precision": data["precision"]} | _given(data, ("framework", "gradient_dtype"))
        if data["gradient_compression"] not in ("", "none"):
            options["gradient_compression"] = data["gradient_compression"]
        overlap = {name: data[f"overlap_{name}"] for name in TRAFFIC if data[f"overlap_{name}"]}
        if overlap:
            options["overlap"] = {name: chosen == HIDDEN for name, chosen in overlap.items()}
        if data["reserve_percent"] is not None:
            options["reserve_share"] = data["reserve_percent"] / 100
        return options

    def _wishes(self) -> dict[str, Any]:
        """What a search is asked for, and within which bounds."""
        data = self.cleaned_data
        asked = _given(data, ("global_batch", "seq_len", "objective"))
        limits = {k: v for k, v in self.base.get("limits", {}).items() if k != "min_accelerators"}
        parts = {"prices": _given(data, PRICES), "limits": limits | _given(data, ("min_accelerators",))}
        return asked | {name: part for name, part in parts.items() if part}

    def _model(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data["model_source"] == "catalogue":
            if not data["catalogue_model"]:
                message = _("choose a model of the catalogue")
                raise Invalid(message, errors=[FieldError(pointer="/catalogue_model", message=message)])
            return model_document(model_named(data["catalogue_model"]).spec)
        if data["model_source"] == "config":
            return model_document(_model_of_config(data["config"]))
        flags = {"gated_mlp": data["gated_mlp"], "tied_embeddings": data["tied_embeddings"]}
        return _given(data, (*SHAPE, *EXPERTS)) | flags

    def _system(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data["domain"] is None:
            return _given(data, HARDWARE)
        stated = _given(data, ("accelerators",))
        return queries.part_of_domain(data["domain"], stated, measured=data["use_measured"])


def _with_file(data: QueryDict | None, files: MultiValueDict[str, UploadedFile] | None) -> QueryDict | None:
    """What was sent, with a chosen config.json in its text field: so a refused form shows it again."""
    file = files.get("config_file") if files else None
    if data is None or file is None:
        return data
    sent = data.copy()
    sent["config"] = file.read(4 * MOST_CONFIG + 4).decode("utf-8-sig", "replace")
    return sent


def _given(data: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: data[name] for name in names if data.get(name) not in (None, "")}


def _replicas_left(system: dict[str, Any], sizes: dict[str, Any]) -> int:
    """Data-parallel size that uses every accelerator; at least 1, so that the engine names what does not divide."""
    model_ranks = sizes.get("tp", 1) * sizes.get("pp", 1) * sizes.get("cp", 1)
    return max(1, int(system.get("accelerators") or 1) // int(model_ranks))


def _model_of_config(text: str) -> ModelSpec:
    try:
        return model_from_config(json.loads(text))
    except (ValueError, RecursionError) as error:
        place = {"line": getattr(error, "lineno", 1), "fault": why(error)}
        message = say("config.json, line %(line)s: %(fault)s", **place)
        raise Invalid(message, errors=[FieldError(pointer="/config", message=message)]) from error
    except Invalid as error:
        problems = [FieldError(pointer="/config", message=_placed(problem)) for problem in error.errors]
        raise Invalid(error.message, errors=problems) from error


def _placed(problem: FieldError) -> str:
    """What is wrong with a configuration, and where in it."""
    if not problem.pointer:
        return problem.message
    return say("%(where)s: %(what)s", where=problem.pointer, what=problem.message)
