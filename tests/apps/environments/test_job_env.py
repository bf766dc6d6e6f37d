"""The environment of a job: where it is set, and what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.verdicts import Verdict
from apps.environments.engine.job_env import JobEnvFinding, Severity, Via, check_text, settings_in
from apps.environments.engine.job_env.reading import Setting

READ = [
    ("NCCL_DEBUG=INFO", [("NCCL_DEBUG", "INFO", 1)]),
    ("export NCCL_DEBUG=INFO  # for now", [("NCCL_DEBUG", "INFO", 1)]),
    ("# export NCCL_DEBUG=INFO", []),
    ('declare -x NCCL_SOCKET_IFNAME="eth0,eth1"', [("NCCL_SOCKET_IFNAME", "eth0,eth1", 1)]),
    (
        "NCCL_DEBUG=INFO NCCL_IB_HCA==mlx5_0 python train.py",
        [("NCCL_DEBUG", "INFO", 1), ("NCCL_IB_HCA", "=mlx5_0", 1)],
    ),
    (
        "\nmpirun -np 8 -x NCCL_DEBUG=WARN \\\n  -x NCCL_ALGO=Ring ./run",
        [("NCCL_DEBUG", "WARN", 2), ("NCCL_ALGO", "Ring", 3)],
    ),
    ("mpiexec -genv NCCL_DEBUG INFO -n 8 ./run", [("NCCL_DEBUG", "INFO", 1)]),
    (
        "#SBATCH --export=ALL,NCCL_DEBUG=INFO,NCCL_IB_HCA=mlx5_0,mlx5_1",
        [("NCCL_DEBUG", "INFO", 1), ("NCCL_IB_HCA", "mlx5_0", 1)],
    ),
    ("srun --export=ALL,NCCL_DEBUG=INFO python train.py", [("NCCL_DEBUG", "INFO", 1)]),
    ('env:\n- name: NCCL_DEBUG\n  value: "INFO"\n', [("NCCL_DEBUG", "INFO", 2)]),
    ('- {name: NCCL_DEBUG, value: "INFO"}', [("NCCL_DEBUG", "INFO", 1)]),
    ("- name: NCCL_DEBUG\n  valueFrom:\n    configMapKeyRef: {}\n", [("NCCL_DEBUG", None, 1)]),
    ("environment:\n  NCCL_IB_TIMEOUT: 22 # ok\n", [("NCCL_IB_TIMEOUT", "22", 2)]),
    (
        '{"env_vars": {"NCCL_DEBUG": "WARN", "NCCL_ALGO": "Tree"}}',
        [("NCCL_ALGO", "Tree", 1), ("NCCL_DEBUG", "WARN", 1)],
    ),
    ("ENV NCCL_DEBUG WARN", [("NCCL_DEBUG", "WARN", 1)]),
    ("docker run -e NCCL_DEBUG=WARN image", [("NCCL_DEBUG", "WARN", 1)]),
    ('os.environ["NCCL_DEBUG"] = "INFO"', [("NCCL_DEBUG", "INFO", 1)]),
    ("os.environ.setdefault('NCCL_DEBUG', 'INFO')", [("NCCL_DEBUG", "INFO", 1)]),
    ("export NCCL_DEBUG=$LEVEL", [("NCCL_DEBUG", None, 1)]),
    ("export NCCL_DEBUG=INFO\nunset NCCL_DEBUG\n", []),
    ('if [ "$NCCL_DEBUG" = "INFO" ]; then', []),
    ("echo ${NCCL_DEBUG:=INFO} --nccl_timeout=5", []),
    (
        "NCCL_ALGO=allreduce:tree,nvls;broadcast:ring",
        [("NCCL_ALGO", "allreduce:tree,nvls;broadcast:ring", 1)],
    ),
    ("NCCL_IB_DISABLE=", [("NCCL_IB_DISABLE", "", 1)]),
]


@pytest.mark.parametrize(("text", "settings"), READ)
def test_settings_are_read_wherever_a_job_makes_them(
    text: str, settings: list[tuple[str, str | None, int]]
) -> None:
    assert [(setting.name, setting.value, setting.line) for setting in settings_in(text)] == settings


def test_a_setting_says_how_it_is_made() -> None:
    assert settings_in("mpirun -x NCCL_DEBUG=INFO ./run") == (
        Setting(name="NCCL_DEBUG", value="INFO", line=1, via=Via.LAUNCHER),
    )


def found(text: str, nccl_version: str = "") -> dict[str, JobEnvFinding]:
    return {finding.code: finding for finding in check_text(text, nccl_version=nccl_version).findings}


FOUND = [
    ("NCCL_P2P_LEVEL=LOCAL", "no_effect", Severity.FAIL),
    ("NCCL_P2P_LEVEL=LOC", "fast_path_off", Severity.FAIL),
    ("NCCL_P2P_LEVEL=nvl", "wrong_case", Severity.FAIL),
    ("NCCL_P2P_LEVEL=NVLINK", "illegal_value", Severity.FAIL),
    ("NCCL_P2P_DISABLE=1", "fast_path_off", Severity.FAIL),
    ("NCCL_SHM_DISABLE=1", "fast_path_off", Severity.FAIL),
    ("NCCL_IB_DISABLE=1", "fast_path_off", Severity.FAIL),
    ("NCCL_NET=socket", "fast_path_off", Severity.FAIL),
    ("NCCL_MNNVL_ENABLE=0", "fast_path_off", Severity.FAIL),
    ("NCCL_CUMEM_ENABLE=0", "fast_path_off", Severity.FAIL),
    ("NCCL_NVLS_ENABLE=0", "fast_path_off", Severity.WARN),
    ("NCCL_NET_GDR_LEVEL=5", "legacy_value", Severity.WARN),
    ("NCCL_TIMEOUT=1800", "no_effect", Severity.WARN),
    ("NCCL_ASYNC_ERROR_HANDLING=1", "no_effect", Severity.WARN),
    ("NCCL_ENABLE_TIMING=1", "no_effect", Severity.WARN),
    ("NCCL_BUFFERSIZE=8388608", "no_effect", Severity.WARN),
    ("NCCL_SOCKET_NTHREAD=4", "unknown_name", Severity.WARN),
    ("NCLL_DEBUG=INFO", "unknown_name", Severity.WARN),
    ("nccl_debug=INFO", "unknown_name", Severity.WARN),
    ("CUDA_VISIBLE_DEVICE=0", "unknown_name", Severity.WARN),
    ("NCCL_BUFFSIZE=8M", "illegal_value", Severity.FAIL),
    ("NCCL_IB_TIMEOUT=0", "illegal_value", Severity.FAIL),
    ("NCCL_IB_DISABLE=true", "illegal_value", Severity.FAIL),
    ("NCCL_ALGO=Rings", "illegal_value", Severity.FAIL),
    ("NCCL_ALGO=Ring", "not_for_production", Severity.WARN),
    ("NCCL_PROTO=LL128", "unsafe_choice", Severity.FAIL),
    ("NCCL_LL_THRESHOLD=0", "deprecated", Severity.WARN),
    ("NCCL_IB_HCA=mlx5_1", "prefix_match", Severity.INFO),
    ("NCCL_DEBUG_FILE=/tmp/nccl.log", "shared_file", Severity.WARN),
    ("NCCL_DEBUG_SUBSYS=INIT", "no_effect", Severity.WARN),
    ("NCCL_DEBUG=WARN\nNCCL_DEBUG_SUBSYS=ALL", "log_flood", Severity.WARN),
    ("NCCL_MAX_NCHANNELS=2", "bandwidth_capped", Severity.WARN),
    ("CUDA_LAUNCH_BLOCKING=1", "debugging_left_in", Severity.FAIL),
    ("TORCH_NCCL_ASYNC_ERROR_HANDLING=0", "hangs_on_error", Severity.FAIL),
    ("TORCH_NCCL_DUMP_ON_TIMEOUT=1\nTORCH_NCCL_TRACE_BUFFER_SIZE=0", "no_effect", Severity.WARN),
    ("CUDA_VISIBLE_DEVICES=", "no_devices", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=-1,0", "no_devices", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=all", "no_devices", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=0,0", "device_repeated", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=3,1,03", "device_repeated", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=GPU-8932f937,GPU-8932f937", "device_repeated", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=0,1,-1,2", "devices_cut", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=0,gpu1", "devices_cut", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=0,GPU-8932f937", "devices_cut", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=MIG-1c4b,2", "devices_cut", Severity.FAIL),
    ("CUDA_VISIBLE_DEVICES=0-3", "illegal_value", Severity.FAIL),
    ('CUDA_VISIBLE_DEVICES="0 1 2"', "illegal_value", Severity.FAIL),
    ("HIP_VISIBLE_DEVICES=1,1", "device_repeated", Severity.FAIL),
    ("ASCEND_RT_VISIBLE_DEVICES=0,1,1", "device_repeated", Severity.FAIL),
    ("PYTORCH_CUDA_ALLOC_CONF=max_split_size:512", "illegal_value", Severity.FAIL),
    ("PYTORCH_CUDA_ALLOC_CONF=expandable_segments=True", "illegal_value", Severity.FAIL),
    ("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:true", "illegal_value", Severity.FAIL),
    ("PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:4", "illegal_value", Severity.FAIL),
    ("PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:80", "illegal_value", Severity.FAIL),
    ("PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync,max_split_size_mb:512", "no_effect", Severity.WARN),
    ("NCCL_DEBUG=WARN\nexport NCCL_DEBUG=VERSION", "set_twice", Severity.INFO),
]


@pytest.mark.parametrize(("text", "code", "severity"), FOUND)
def test_each_mistake_is_found_with_why_and_what_instead(text: str, code: str, severity: Severity) -> None:
    finding = found(text)[code]

    assert finding.severity is severity
    assert finding.why
    assert finding.instead


CLEAN = [
    "NCCL_DEBUG=WARN",
    "NCCL_P2P_LEVEL=NVL",
    "NCCL_P2P_LEVEL=NVB",
    "NCCL_IB_HCA==mlx5_0,mlx5_1",
    "NCCL_ALGO_UNRELATED",
    "NCCL_NET_GDR_LEVEL=PHB",
    "NCCL_IB_TIMEOUT=22",
    "NCCL_VERSION=2.25.1-1",
    "NCCL_TUNER_CONFIG_PATH=/etc/tuner",
    "NCCL_CTA_POLICY=EFFICIENCY|ZERO",
    "NCCL_SOCKET_IFNAME=^lo,docker",
    "TORCH_NCCL_BLOCKING_WAIT=false",
    "CUDA_HOME=/usr/local/cuda\nCUDA_DEVICE_MAX_CONNECTIONS=1",
    "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512,roundup_power2_divisions:[256:1,512:2,>:4],expandable_segments:True",
    "HCCL_CONNECT_TIMEOUT=1200\nCCL_LOG_LEVEL=info\nCNCL_LOG_LEVEL=1",
    "PATH=/usr/bin\nHOME=/root",
    "export NCCL_P2P_DISABLE=1\nunset NCCL_P2P_DISABLE",
    "CUDA_VISIBLE_DEVICES=7,0,3",  # holes and any order are fine
    "CUDA_VISIBLE_DEVICES=0,1,2,3,",
    "CUDA_VISIBLE_DEVICES=GPU-8932f937,GPU-1c4b",
    "CUDA_VISIBLE_DEVICES=$SLURM_LOCALID",
    "CUDA_VISIBLE_DEVICES={{ local_rank }}",
]


@pytest.mark.parametrize("text", CLEAN)
def test_a_sound_environment_has_no_findings(text: str) -> None:
    assert check_text(text).findings == ()


def test_a_near_miss_suggests_the_name_that_was_meant() -> None:
    assert "NCCL_SOCKET_NTHREADS" in found("NCCL_SOCKET_NTHREAD=4")["unknown_name"].suggestions
    assert found("NCLL_DEBUG=INFO")["unknown_name"].suggestions[0] == "NCCL_DEBUG"


def test_settings_of_a_transport_that_is_off_do_nothing() -> None:
    report = check_text("NCCL_IB_DISABLE=1\nNCCL_IB_TIMEOUT=22\nNCCL_IB_GID_INDEX=3")

    assert [(one.name, one.line) for one in report.findings if one.code == "no_effect"] == [
        ("NCCL_IB_TIMEOUT", 2),
        ("NCCL_IB_GID_INDEX", 3),
    ]


def test_a_variable_that_the_loaded_nccl_does_not_know_yet_does_nothing() -> None:
    assert "no_effect" in found("NCCL_RAS_ENABLE=0", nccl_version="2.20.5")
    assert "no_effect" not in found("NCCL_RAS_ENABLE=0", nccl_version="2.27.3")
    assert "no_effect" not in found("NCCL_RAS_ENABLE=0")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("NCCL_P2P_DISABLE=1\nNCCL_TIMEOUT=1", Verdict.FAIL),
        ("NCCL_TIMEOUT=1", Verdict.WARN),
        ("NCCL_DEBUG=INFO", Verdict.PASS),
        ("NCCL_DEBUG=WARN", Verdict.PASS),
        ("HOME=/root", Verdict.UNKNOWN),
        ("", Verdict.UNKNOWN),
    ],
)
def test_the_report_has_one_verdict_and_nothing_to_check_is_unknown(text: str, verdict: Verdict) -> None:
    assert check_text(text).verdict is verdict


_PIECES = st.lists(
    st.sampled_from(
        [
            "NCCL_DEBUG",
            "NCCL_ALGO",
            "=",
            '"',
            "'",
            "\\",
            "\n",
            " ",
            "- name: ",
            "value: ",
            "-x ",
            "export ",
            "$A",
            "{",
            ":",
            ",",
            ";",
            "#",
        ]
    ),
    max_size=25,
).map("".join)


@given(st.one_of(_PIECES, st.text(max_size=80)))
def test_any_text_is_checked_without_an_error(text: str) -> None:
    lines = max(1, len(text.splitlines()))

    assert all(1 <= finding.line <= lines for finding in check_text(text).findings)
