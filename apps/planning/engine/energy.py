"""Energy: what the cards and their hosts draw in a step that partly computes and partly waits."""

from __future__ import annotations

from apps.planning.engine.layouts import Floats, Layouts
from apps.planning.engine.operations import power_figure
from apps.planning.engine.step_time import StepTime
from apps.planning.engine.system import System, card_power_w


def step_energy_j(system: System, layouts: Layouts, step: StepTime) -> Floats:
    """Joules of one step of each configuration, without cooling and room.

    A card draws its TDP while it computes, repeated work included, and `waiting_share` of it while it waits for
    others, for messages or for its host. Hosts and fans draw `node_overhead_share` of the cards' TDP throughout.
    """
    computing_s = step.compute + step.optimizer
    waiting_s = step.total - computing_s
    full_s = computing_s + power_figure("waiting_share") * waiting_s
    full_s = full_s + power_figure("node_overhead_share") * step.total
    return layouts.accelerators * card_power_w(system.accelerator) * full_s
