"""What formats and policies are called, for people."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

SCHEDULER_FORMATS = {
    "slurm_block": _("Slurm topology.conf, block"),
    "slurm_tree": _("Slurm topology.conf, tree"),
    "slurm_yaml": _("Slurm topology.yaml"),
    "hypernode": _("Volcano HyperNode"),
    "kueue": _("Kueue Topology and node labels"),
    "kubectl_labels": _("kubectl label script"),
    "nccl_hints": _("NCCL topology hints"),
    "hostfile": _("Hostfile by sub-domain"),
}
