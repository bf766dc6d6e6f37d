"""Memory ledger: what one card of each pipeline stage holds, and whether it fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.catalogue.engine.models import ModelSpec
from apps.planning.engine.activations import (
    LayerActivations,
    embedding_mask_bytes,
    layer_activations,
    logits_bytes,
)
from apps.planning.engine.buffers import buffer_bytes
from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.flight import in_flight
from apps.planning.engine.layouts import Bools, Floats, Ints, Layouts, Recompute
from apps.planning.engine.parameters import rank_parameters
from apps.planning.engine.stages import StageContent, content, representative_stages
from apps.planning.engine.states import state_bytes
from apps.planning.engine.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class StageMemory:
    """Bytes on one card of a stage, one entry per configuration. The parts add up to `total`."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    activations: Floats
    logits: Floats
    buffers: Floats

    @property
    def total(self) -> Floats:
        """All parts."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.logits + self.buffers


def stage_memory(
    model: ModelSpec, workload: Workload, layouts: Layouts, stage: Ints, coefficients: Coefficients
) -> StageMemory:
    """Ledger of the given stage (0-based, one per configuration), in bytes."""
    return _ledger(model, workload, layouts, stage, layer_activations(model, workload, layouts), coefficients)


def peak_bytes(model: ModelSpec, workload: Workload, layouts: Layouts, coefficients: Coefficients) -> Floats:
    """Bytes on the fullest card of each configuration."""
    activations = layer_activations(model, workload, layouts)
    peak = np.zeros(len(layouts))
    for stage in representative_stages(model, layouts):
        ledger = _ledger(model, workload, layouts, stage, activations, coefficients)
        peak = np.maximum(peak, ledger.total)
    return peak


def fits(peak: Floats, capacity_bytes: float, reserve_share: float) -> Bools:
    """Whether the fullest card stays within capacity less the reserve."""
    return peak <= capacity_bytes * (1.0 - reserve_share)


def _ledger(
    model: ModelSpec,
    workload: Workload,
    layouts: Layouts,
    stage: Ints,
    per_layer: LayerActivations,
    coefficients: Coefficients,
) -> StageMemory:
    held = content(model, layouts, stage)
    parameters = rank_parameters(model, layouts, held)
    states = state_bytes(parameters, layouts, gradient_bytes=workload.gradient_bytes)
    activations = _activation_bytes(model, workload, layouts, held, per_layer)
    return StageMemory(
        weights=states.weights,
        gradients=states.gradients,
        optimizer=states.optimizer,
        activations=activations,
        logits=held.is_last * logits_bytes(model, workload, layouts),
        buffers=buffer_bytes(parameters, activations, layouts, coefficients),
    )


def _activation_bytes(
    model: ModelSpec, workload: Workload, layouts: Layouts, held: StageContent, per_layer: LayerActivations
) -> Floats:
    """Kept activations of all micro-batches in flight, and the layer at work where layers are recomputed."""
    flying = in_flight(layouts, held.stage)
    kept = held.plain_layers * per_layer.plain_kept + held.moe_layers * per_layer.moe_kept
    working = np.where(held.moe_layers > 0, per_layer.moe_whole, per_layer.plain_whole)
    recomputed = np.where(layouts.recompute == Recompute.FULL, working, 0.0)
    mask = held.is_first * embedding_mask_bytes(model, workload, layouts)
    return flying * (kept + mask) + recomputed
