"""The environment of a job, checked before it starts: names, values, fast paths, and wishes that do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from apps.catalogue.engine.variables import Variable, known_names_version, not_variables, variables
from apps.catalogue.engine.versions import Scheme, at_least, parse
from apps.core import safe_yaml
from apps.core.texts import Text, say
from apps.core.verdicts import Verdict, combine
from apps.environments.engine.job_env import allocator, devices, names
from apps.environments.engine.job_env.reading import Setting, Via, settings_in
from apps.environments.engine.job_env.values import as_integer, fault_in

__all__ = ["JobEnvFinding", "JobEnvReport", "Setting", "Severity", "Via", "check_settings", "check_text"]

_DATA = Path(__file__).resolve().parents[2] / "data" / "job_env.yaml"
_ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")


class Severity(StrEnum):
    """fail: costs a fast path, data or the job. warn: look at it. info: good to know."""

    FAIL = "fail"
    WARN = "warn"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnvFinding:
    """One thing about one setting. code: stable; why and instead: English sentences.

    line: 1-based line of the setting. value: None where it is computed elsewhere. suggestions: near names.
    """

    code: str
    severity: Severity
    name: str
    value: str | None
    line: int
    why: str
    instead: str = ""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnvReport:
    """All settings that were read, and what was found, in the order of lines.

    verdict: unknown where no variable of NCCL, PyTorch or CUDA is set, since nothing was checked.
    """

    settings: tuple[Setting, ...]
    findings: tuple[JobEnvFinding, ...]
    verdict: Verdict


@cache
def _data() -> dict[str, Any]:
    loaded: dict[str, Any] = safe_yaml.load(_DATA.read_text(encoding="utf-8"))
    return loaded


def check_text(text: str, *, nccl_version: str = "") -> JobEnvReport:
    """Check a pasted env, a launch script, a Slurm or Kubernetes file, or a launcher command.

    nccl_version: the NCCL that the job loads; with it, variables that it does not know yet are named.
    """
    return check_settings(settings_in(text), nccl_version=nccl_version)


def check_settings(settings: Sequence[Setting], *, nccl_version: str = "") -> JobEnvReport:
    """Check settings that were read elsewhere; of several for one name, the last one counts."""
    meant = [setting for setting in settings if _is_meant(setting.name)]
    last = {setting.name: setting for setting in meant}
    findings = [finding for setting in last.values() for finding in _check_one(setting, nccl_version)]
    findings += _idle(last)
    findings += _set_twice(meant, last)
    findings.sort(key=lambda finding: (finding.line, finding.name, finding.code))
    verdicts = {Severity.FAIL: Verdict.FAIL, Severity.WARN: Verdict.WARN, Severity.INFO: Verdict.PASS}
    found = [verdicts[finding.severity] for finding in findings]
    return JobEnvReport(
        settings=tuple(meant),
        findings=tuple(findings),
        verdict=combine([Verdict.PASS, *found] if meant else []),
    )


def _is_meant(name: str) -> bool:
    upper = name.upper()
    prefixes = ("NCCL_", "TORCH_NCCL_", "TORCH_FR_", "CUDA_", "PYTORCH_", "OFI_NCCL_")
    return upper.startswith(prefixes) or name in _data()["known_names"] or names.is_misspelt_prefix(name)


def _check_one(setting: Setting, nccl_version: str) -> Iterator[JobEnvFinding]:
    variable = variables().get(setting.name)
    if variable is None:
        yield from _check_name(setting)
    elif setting.value is not None:
        yield from _check_value(setting, variable)
        yield from _check_age(setting, variable, nccl_version)
    if setting.value is not None:
        yield from _check_advice(setting)
        if setting.name in _data()["device_lists"] and (fault := devices.fault_in_list(setting.value)):
            yield _finding(setting, fault.code, Severity.FAIL, fault.why, fault.instead)
        if setting.name in _ALLOCATOR:
            for fault in allocator.faults_in(setting.value, _data()["allocator"]):
                severity = Severity.WARN if fault.code == "no_effect" else Severity.FAIL
                yield _finding(setting, fault.code, severity, fault.why, fault.instead)


def _check_name(setting: Setting) -> Iterator[JobEnvFinding]:
    name = setting.name
    use = not_variables().get(name) or _renamed().get(name)
    if use:
        why = say("%(name)s is no variable of NCCL; it has no effect", name=name)
        yield _finding(setting, "no_effect", Severity.WARN, why, use, (use,) if use.isupper() else ())
        return
    if names.is_of_nccl(name) and names.is_known(name):
        return
    known = _data()["known_names"]
    if name in known:
        return
    is_nccl = names.is_of_nccl(name) or names.is_misspelt_prefix(name)
    near = names.near_names(name, known) if is_nccl else names.near_names(name, known, likeness=0.9)
    if is_nccl or near:
        why = say(
            "neither NCCL %(known_names_version)s nor PyTorch reads %(name)s; it has no effect "
            "and gives no message",
            known_names_version=known_names_version(),
            name=name,
        )
        instead = f"{near[0]}?" if near else say("remove it")
        yield _finding(setting, "unknown_name", Severity.WARN, why, instead, near)


@cache
def _renamed() -> dict[str, str]:
    """Old names of PyTorch to the ones that it reads today."""
    return {variable.old_name: variable.name for variable in variables().values() if variable.old_name}


def _check_value(setting: Setting, variable: Variable) -> Iterator[JobEnvFinding]:
    assert setting.value is not None
    special = any(_fits(rule, setting) for rule in _rules_for(setting.name) if rule["code"] == "no_effect")
    also_legal = _data()["also_legal"].get(setting.name, ())
    fault = None if special else fault_in(variable, setting.value, also_legal)
    if fault is not None:
        severity = Severity.WARN if fault.code == "legacy_value" else Severity.FAIL
        yield _finding(setting, fault.code, severity, fault.why, fault.instead)
    if variable.deprecated:
        yield _finding(
            setting,
            "deprecated",
            Severity.WARN,
            say("deprecated: %(said)s", said=Text(variable.deprecated)),
            say("leave it unset"),
        )
    elif not variable.for_production:
        yield _finding(
            setting,
            "not_for_production",
            Severity.WARN,
            variable.risk or variable.purpose,
            say("leave it unset"),
        )
    if setting.name == "NCCL_IB_HCA":
        yield from _check_adapters(setting)
    if setting.name == "NCCL_DEBUG_FILE" and "%" not in setting.value and setting.value != "stdout":
        yield _finding(setting, "shared_file", Severity.WARN, variable.risk, f"{setting.value}.%h.%p")


def _check_adapters(setting: Setting) -> Iterator[JobEnvFinding]:
    """Names are beginnings unless = stands in front: mlx5_1 takes mlx5_10 as well."""
    value = setting.value or ""
    if not value.lstrip("^").startswith("=") and any(
        part.partition(":")[0][-1:].isdigit() for part in value.lstrip("^").split(",")
    ):
        why = say("adapter names are beginnings of names: mlx5_1 also takes mlx5_10 to mlx5_19")
        sign = "^" if value.startswith("^") else ""
        yield _finding(setting, "prefix_match", Severity.INFO, why, f"{sign}={value.lstrip('^')}")


def _check_age(setting: Setting, variable: Variable, nccl_version: str) -> Iterator[JobEnvFinding]:
    if not nccl_version or not variable.since:
        return
    if at_least(parse(nccl_version, Scheme.NCCL), parse(variable.since, Scheme.NCCL)) is False:
        why = say(
            "NCCL %(nccl_version)s does not know it; it came with %(since)s",
            nccl_version=nccl_version,
            since=variable.since,
        )
        yield _finding(
            setting, "no_effect", Severity.WARN, why, say("NCCL %(since)s or newer", since=variable.since)
        )


def _rules_for(name: str) -> list[dict[str, Any]]:
    return [rule for rule in _data()["values"] if rule["name"] == name]


def _check_advice(setting: Setting) -> Iterator[JobEnvFinding]:
    for rule in _rules_for(setting.name):
        if _fits(rule, setting):
            yield _finding(setting, rule["code"], Severity(rule["severity"]), rule["why"], rule["instead"])


def _fits(rule: Mapping[str, Any], setting: Setting) -> bool:
    value = (setting.value or "").strip()
    if "equals" in rule:
        wanted = rule["equals"]
        if rule.get("any_case"):
            return value.casefold() in [word.casefold() for word in wanted]
        return value in wanted
    if "at_most" in rule:
        number = as_integer(value)
        return number is not None and 0 < number <= rule["at_most"]
    if "holds" in rule:
        listed = value.upper().replace(";", ",").replace(":", ",").split(",")
        return not value.startswith("^") and rule["holds"] in [word.strip() for word in listed]
    return value.startswith(rule["starts_with"])


def _idle(last: Mapping[str, Setting]) -> Iterator[JobEnvFinding]:
    for rule in _data()["idle"]:
        for name in _named_by(rule, last):
            if _is_idle(rule, last):
                yield _finding(last[name], "no_effect", Severity.WARN, rule["why"], rule["instead"])


def _named_by(rule: Mapping[str, Any], last: Mapping[str, Setting]) -> list[str]:
    if "name" in rule:
        return [rule["name"]] if rule["name"] in last else []
    return [name for name in last if name.startswith(rule["prefix"]) and name != rule["except"]]


def _is_idle(rule: Mapping[str, Any], last: Mapping[str, Setting]) -> bool:
    if "without" in rule:
        return rule["without"] not in last
    return all(name in last and last[name].value in values for name, values in rule["beside"].items())


def _set_twice(meant: Iterable[Setting], last: Mapping[str, Setting]) -> Iterator[JobEnvFinding]:
    """Earlier settings of a name with another value than the last one."""
    for setting in meant:
        kept = last[setting.name]
        if setting is not kept and setting.value != kept.value:
            why = say("set again in line %(line)s", line=kept.line)
            yield _finding(setting, "set_twice", Severity.INFO, why, say("set it once"))


def _finding(
    setting: Setting, code: str, severity: Severity, why: str, instead: str, suggestions: tuple[str, ...] = ()
) -> JobEnvFinding:
    return JobEnvFinding(
        code=code,
        severity=severity,
        name=setting.name,
        value=setting.value,
        line=setting.line,
        why=why,
        instead=instead,
        suggestions=suggestions,
    )
