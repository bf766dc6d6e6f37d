"""collect_env: findings between its own lines, other spellings, and parts that were lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.evidence.engine.parsers import collect_env
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source
from tests.apps.evidence.engine.parsers.readings import codes

CORPUS = Path(__file__).parents[4] / "corpus" / "collect-env"
H20 = (CORPUS / "h20x8-torch2.6.0.txt").read_text()
H200 = (CORPUS / "h200x8-sections.txt").read_text()
A800 = (CORPUS / "a800x1-conda.txt").read_text()


def read(text: str) -> Reading:
    return collect_env.read(Source.of_text(text))


def test_the_kernel_is_told_from_the_platform() -> None:
    kernels = {
        "Linux-5.15.0-107-generic-x86_64-with-glibc2.35": ("5.15.0-107-generic", "x86_64"),
        "Linux-4.18.0-372.46.1.el8_6.x86_64-x86_64-with-glibc2.35": (
            "4.18.0-372.46.1.el8_6.x86_64",
            "x86_64",
        ),
        "Linux-6.8.0-1028-nvidia-64k-aarch64-with-glibc2.35": ("6.8.0-1028-nvidia-64k", "aarch64"),
        "Linux-4.15.0-142-generic-x86_64-with-debian-buster-sid": ("4.15.0-142-generic", "x86_64"),
        "Windows-10-10.0.19045-SP0": (None, None),
    }
    for platform, expected in kernels.items():
        facts = read(f"PyTorch version: 2.4.0\nPython platform: {platform}\n").facts
        assert (facts["kernel"], facts["machine"]) == expected


def test_the_nccl_of_the_package_the_image_and_the_process_are_three_facts() -> None:
    facts = read("NCCL version 2.28.9+cuda12.4\n" + H20).facts
    assert (facts["nccl_package"], facts["nccl_image"], facts["nccl_loaded"]) == ("2.21.5", "2.20.5-1", None)
    facts = read(H20 + "\nhost:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda12.4\n").facts
    assert facts["nccl_loaded"] == "2.28.9"


@pytest.mark.parametrize(
    ("conda", "differing"),
    [("2.18.1.1", {}), ("2.19.3.1", {"nccl": {"pip": "2.18.1", "conda": "2.19.3.1"}})],
)
def test_pip_and_conda_may_disagree_about_a_library_with_two_names(
    conda: str, differing: dict[str, dict[str, str]]
) -> None:
    text = f"""\
PyTorch version: 2.1.2
Versions of relevant libraries:
[pip3] nvidia-nccl-cu12==2.18.1
[pip3] torch==2.1.2
[conda] nccl                      {conda}             h3d48e6b_0    conda-forge
[conda] pytorch                   2.1.2           py3.10_cuda12.1_cudnn8.9.2_0    pytorch
"""
    reading = read(text)
    assert reading.facts["packages_differing"] == differing
    assert codes(reading) == ["packages_differ"] * len(differing)


def test_pip_and_conda_may_disagree() -> None:
    reading = read(A800.replace("[conda] pytorch                   2.3.1", "[conda] pytorch  2.2.0"))
    assert reading.facts["packages_differing"] == {"torch": {"pip": "2.3.1", "conda": "2.2.0"}}
    assert codes(reading) == ["packages_differ"]


def test_an_old_list_of_packages_is_read() -> None:
    text = "PyTorch version: 0.4.1\nVersions of relevant libraries:\n[pip] torch (0.4.1)\n[conda] Could not collect\n"
    assert read(text).facts["pip_torch"] == "0.4.1"


def test_a_redacted_version_is_unknown() -> None:
    reading = read(H20.replace("nvidia-nccl-cu12==2.21.5", "nvidia-nccl-cu12==[REDACTED]"))
    assert reading.facts["nccl_package"] is None
    assert codes(reading) == ["package_not_understood"]


def test_a_torch_other_than_the_packaged_one_is_named() -> None:
    assert codes(read(H20.replace("[pip3] torch==2.6.0", "[pip3] torch==2.5.1"))) == ["torch_differs"]


def test_a_build_tag_that_contradicts_the_build_line_is_named() -> None:
    reading = read(H20.replace("CUDA used to build PyTorch: 12.4", "CUDA used to build PyTorch: 11.8"))
    assert codes(reading) == ["contradictory_value"]


def test_cudnn_of_two_major_versions_is_named() -> None:
    line = "/usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.0\n"
    reading = read(A800.replace(line, line + "/usr/local/cuda/lib64/libcudnn.so.9.1.0\n"))
    assert reading.facts["cudnn_versions"] == ["8.9.0", "9.1.0"]
    assert reading.facts["cudnn"] == "8.9.0"
    assert codes(reading) == ["several_cudnn"]


def test_mig_devices_are_counted_beside_their_gpu() -> None:
    slices = "".join(f"  MIG 1g.10gb     Device  {index}:\n" for index in range(2))
    mig = f"GPU models and configuration: \nGPU 0: NVIDIA H100\n{slices}"
    facts = read(
        f"PyTorch version: 2.4.0\n{mig}\nNvidia driver version: 550.54.15\n[conda] Could not collect\n"
    ).facts
    assert (facts["gpu_models"], facts["gpu_count"], facts["mig_profiles"]) == (
        {"NVIDIA H100": 1},
        1,
        ["1g.10gb", "1g.10gb"],
    )


def test_a_line_of_noise_among_the_gpus_loses_none() -> None:
    reading = read(H200.replace("GPU 3: NVIDIA H200\n", "\nWARNING: noise\nGPU 3: NVIDIA H200\n"))
    assert reading.facts["gpu_count"] == 8
    assert codes(reading) == []


@pytest.mark.parametrize("index", [0, 4, 7])
def test_a_lost_gpu_line_is_named(index: int) -> None:
    assert "gpus_missing" in codes(read(H200.replace(f"GPU {index}: NVIDIA H200\n", "")))


def test_values_of_secret_variables_are_masked() -> None:
    env = read(H20 + "\nHF_TOKEN=abc\nTOKENIZERS_PARALLELISM=false\nVLLM_API_KEY=def\n").facts["env"]
    assert (env["HF_TOKEN"], env["VLLM_API_KEY"]) == ("(masked)", "(masked)")
    assert env["TOKENIZERS_PARALLELISM"] == "false"


def test_only_the_first_of_several_reports_is_read() -> None:
    for first, second in ((H200, H20), (H20, H200), (H200, H200)):
        reading = read(first + "\n" + second)
        assert reading.facts == read(first).facts
        assert codes(reading) == ["several_reports"]


def test_the_matrix_is_read_as_topology() -> None:
    topology = read(H200).facts["topology"]
    assert (topology["gpus"], topology["nics"], topology["gpu_gpu_links"]) == (8, 12, {"NV18": 56})


def test_a_text_without_the_torch_version_is_refused() -> None:
    with pytest.raises(Unreadable, match="no line with the PyTorch version"):
        read("Collecting environment information...\nTraceback (most recent call last):\n")


FOLDED = (
    "Collecting environment information... PyTorch version: 2.5.1+cu124 Is debug build: False "
    "CUDA used to build PyTorch: 12.4 ROCM used to build PyTorch: N/A OS: CentOS Linux 8 (x86_64) "
    "GCC version: (GCC) 8.5.0 20210514 (Red Hat 8.5.0-4) Clang version: Could not collect Libc version: glibc-2.28 "
    "Python version: 3.12.9 | packaged by conda-forge | (64-bit runtime) "
    "Python platform: Linux-4.18.0-348.7.1.el8_5.x86_64-x86_64-with-glibc2.28 Is CUDA available: True "
    "CUDA runtime version: Could not collect CUDA_MODULE_LOADING set to: LAZY GPU models and configuration: "
    "GPU 0: NVIDIA GeForce RTX 3060 GPU 1: NVIDIA GeForce RTX 3060 Nvidia driver version: 550.142 "
    "cuDNN version: Could not collect HIP runtime version: N/A MIOpen runtime version: N/A "
    "Is XNNPACK available: True Versions of relevant libraries: [pip3] nvidia-nccl-cu12==2.21.5 [pip3] torch==2.5.1 "
    "[conda] Could not collect"
)


def test_a_report_whose_line_ends_became_blanks_is_read_like_any_other() -> None:
    reading = read(FOLDED)
    expected = {
        "torch_version": "2.5.1+cu124",
        "os": "CentOS Linux 8 (x86_64)",
        "gcc": "(GCC) 8.5.0 20210514 (Red Hat 8.5.0-4)",
        "kernel": "4.18.0-348.7.1.el8_5.x86_64",
        "cuda_runtime_version": None,
        "gpu_models": {"NVIDIA GeForce RTX 3060": 2},
        "driver_version": "550.142",
        "nccl_package": "2.21.5",
    }
    assert {key: reading.facts[key] for key in expected} == expected
    assert codes(reading) == []


def test_two_packages_of_nccl_in_different_versions_are_said() -> None:
    reading = read(H20.replace("[pip3] torch==2.6.0", "[pip3] nvidia-nccl-cu11==2.19.3\n[pip3] torch==2.6.0"))

    (warning,) = [one for one in reading.warnings if one.code == "versions_differ"]
    assert warning.line is not None
    assert "nvidia-nccl-cu11" in warning.text


def test_cann_is_found_in_an_indented_report() -> None:
    text = (CORPUS / "ascend-a3-vllm-ascend.txt").read_text()

    assert read("".join(f"    {line}\n" for line in text.splitlines())).facts["cann_version"] == "8.2.RC1"
