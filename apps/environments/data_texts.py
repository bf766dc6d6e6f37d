"""Texts of the data files, listed for the catalogues of translations; a test keeps the list complete.

The engines give them in English. Pages pass them through gettext, which finds them by their wording.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

TEXTS = (
    _("Fabric manager and GPU driver are of the same version"),
    _("On NVSwitch systems the fabric does not come up, or collectives hang, when the two differ."),
    _("Install the fabric manager package of exactly the driver's version."),
    _("GSP firmware is that of the driver"),
    _(
        "The firmware is loaded from the driver package; another version means that a "
        "driver update has not taken effect."
    ),
    _("Reload the driver or reboot the node."),
    _("The driver runs the CUDA that PyTorch was built with"),
    _(
        "A program of a CUDA major needs a driver at or above the floor of that major "
        "(minor-version compatibility)."
    ),
    _("Update the driver, or take a PyTorch build of an older CUDA."),
    _("The driver runs the installed CUDA toolkit"),
    _("Programs built with that toolkit need a driver at or above the floor of its CUDA major."),
    _("Update the driver, or use an older toolkit."),
    _("The driver runs this PyTorch"),
    _("Default wheels from 2.11 on are built with CUDA 13, which needs a driver of branch 580 or newer."),
    _("Update the driver, or install the cu126 or cu128 build of that release."),
    _("The driver is the one the toolkit was released with, or newer"),
    _(
        "Below it programs run, but features that need the newer driver and just-in-time "
        "compilation of newer PTX do not."
    ),
    _("Update the driver where such features are used."),
    _("The driver branch has not ended"),
    _("An ended branch gets no security fixes any more."),
    _("Plan a move to a long-term branch."),
    _("The CUDA tag of PyTorch is the CUDA that it was built with"),
    _(
        "A build that names one CUDA and reports another was put together by hand or installed over another one."
    ),
    _("Install one build and its own packages afresh."),
    _("PyTorch is published for that CUDA"),
    _("A build for another CUDA is none of the published ones; nobody else tests that combination."),
    _("Take a published build, or record where this one comes from."),
    _("NCCL is the one that this PyTorch pins"),
    _("PyTorch is tested with the NCCL that it pins; container images often carry another one on purpose."),
    _("Install the pinned version, or note why another one is loaded on all ranks."),
    _("cuDNN is of the branch that this PyTorch pins"),
    _("PyTorch is built against the cuDNN that it pins."),
    _("Install the pinned version."),
    _("Triton is of the branch that this PyTorch pins"),
    _("The compiler of PyTorch calls Triton by interfaces that change between its releases."),
    _("PyTorch is published for that Python"),
    _("There is no published wheel of that release for this Python."),
    _("Take a Python of the list."),
    _("PyTorch is no CPU build where there is a GPU driver"),
    _("A CPU build next to a driver trains on the CPU, without an error."),
    _("Install the CUDA build of the same release."),
    _("V100 runs CUDA 12.9 or older"),
    _("CUDA 13 dropped GPUs below compute capability 7.5."),
    _("Stay on a CUDA 12 build and a driver of branch 580 or older."),
    _("V100 runs a driver of branch 580 or older"),
    _("Branch 580 is the last one that knows Volta."),
    _("Stay on branch 580."),
    _("Hopper needs CUDA 11.8 or newer"),
    _("Older builds hold no code for compute capability 9.0."),
    _("Take a build of CUDA 11.8 or newer."),
    _("Blackwell needs CUDA 12.8 or newer"),
    _("Older builds hold no code for compute capability 10.0."),
    _("Take a build of CUDA 12.8 or newer."),
    _("Blackwell Ultra needs CUDA 12.9 or newer"),
    _("Older builds hold no code for compute capability 10.3."),
    _("Take a build of CUDA 12.9 or newer."),
    _("torch_npu is of the same release as PyTorch"),
    _("The Ascend plug-in is built for one PyTorch release and numbered after it."),
    _("Install both from one row of the vendor's table."),
    _("CANN is stated where torch_npu is used"),
    _(
        "torch_npu runs on one CANN release; without it the combination cannot be judged."
        " Add the vendor's pairs as rules."
    ),
    _("Report the CANN version."),
    _("GPUs of a node no longer reach each other directly; NVLink is not used."),
    _("Leave it unset; use it for a test only."),
    _("LOC means that no two GPUs may use direct access; NVLink is not used."),
    _('NVL for "only over NVLink", or leave it unset.'),
    _(
        "LOCAL is no value; NCCL passes over it without a word. The nearest legal word "
        "LOC would switch direct access off."
    ),
    _("Processes of a node no longer share memory; traffic inside a node may go over the NIC."),
    _("RDMA is off; traffic between nodes falls back to TCP sockets."),
    _("Leave it unset; choose devices with NCCL_IB_HCA."),
    _("Traffic between nodes is forced onto TCP sockets."),
    _("Leave it unset or name the RDMA network."),
    _("GPUDirect RDMA is off; every message is copied through host memory."),
    _("Leave it unset or write PXB."),
    _("On a multi-node NVLink domain traffic between trays goes over the NIC."),
    _("Leave it unset (detection) or 1 (required)."),
    _(
        "Multi-node NVLink and NVLS registration need this kind of allocation; without it"
        " traffic between trays goes over the NIC."
    ),
    _("Leave it unset; find out which framework sets it."),
    _("The all-reduce inside the NVSwitch is given up."),
    _("Leave it unset; set it for a test or when resources run out."),
    _("All-to-all on rail-optimised networks crosses the spine."),
    _("Leave it unset."),
    _("Send and receive never go through the NIC of another GPU."),
    _("GPUs without a link of their own no longer relay over NVLink."),
    _("Buffers of other GPUs in the process are copied instead of read."),
    _("Without the peer-memory module GPUDirect RDMA is lost."),
    _("GPUDirect RDMA through the chip-to-chip link is off."),
    _("Leave it unset on hosts with that link."),
    _("Symmetric memory is off; kernels that need it are not used."),
    _("So few blocks cannot fill the links."),
    _("Leave it unset; measure before lowering it."),
    _("So few channels cannot fill the links."),
    _("Leave it unset; if compute needs room, lower NCCL_MAX_CTAS and measure."),
    _("NCCL takes LL128 where it is safe; forcing it elsewhere can corrupt data."),
    _("Start-up and log volume grow with every rank."),
    _("WARN, with NCCL_DEBUG_FILE=…%h.%p for each process."),
    _("Every part logs every call."),
    _("INIT,NET,GRAPH while looking for a fault; unset otherwise."),
    _("Every call checks its pointers."),
    _("Leave it unset outside of a test."),
    _("Every kernel launch waits for its end; compute and communication no longer overlap."),
    _("Every tensor is allocated and freed by the driver."),
    _("The host waits in every wait(); compute and communication overlap less."),
    _("TORCH_NCCL_ASYNC_ERROR_HANDLING (on by default)."),
    _("After an error of one rank the others wait for ever."),
    _("A stuck watchdog is not noticed."),
    _("Every collective is recorded in the store."),
    _("TORCH_NCCL_TRACE_BUFFER_SIZE (the flight recorder)."),
    _("Every input of a collective is scanned."),
    _("The file replaces detection; one of another machine type gives a wrong graph."),
    _("Check that it belongs to these nodes."),
    _("The process sees no GPU."),
    _("Leave it to the launcher."),
    _("Without NCCL_DEBUG nothing is logged."),
    _("Set NCCL_DEBUG=INFO beside it."),
    _("Set NCCL_DEBUG beside it."),
    _("The flight recorder is off; there is nothing to dump."),
    _("Set TORCH_NCCL_TRACE_BUFFER_SIZE above 0."),
    _("Multi-node NVLink needs NCCL_CUMEM_ENABLE."),
    _("Leave NCCL_CUMEM_ENABLE unset."),
    _("Blocking wait takes precedence."),
    _("Leave TORCH_NCCL_BLOCKING_WAIT unset."),
    _("RDMA is switched off by NCCL_IB_DISABLE."),
    _("Leave NCCL_IB_DISABLE unset."),
    _("The network is forced to Socket by NCCL_NET."),
    _("Leave NCCL_NET unset."),
    _("NVLS is switched off."),
    _("Leave NCCL_NVLS_ENABLE unset."),
)
