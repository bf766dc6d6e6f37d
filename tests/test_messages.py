"""Every text that the sources mark is there in every language, word for word where it must be."""

from __future__ import annotations

import re
from functools import cache

import pytest
from babel.messages.catalog import Catalog, Message

from scripts import collect_messages

CATALOGUES = {path.parent.parent.name: path for path in collect_messages.CATALOGUES}
PLACEHOLDER = re.compile(r"%\(\w+\)[-+ #0-9.]*[a-zA-Z]|%%|\{\w*\}")
HAN = re.compile(r"[\u4e00-\u9fff]")
# Names and units that are the same in both languages: a translation without Chinese holds no other words.
NAME = re.compile(
    "all-reduce|all-to-all|Ansible|block|busbw|config.json|decode|Fabric|Face|gang|GB/s|GO|GPU|HFU|Hugging|HyperNode|"
    "in-place|inventory|JSON|Lines|logits|Manager|MoE|NCCL|NO-GO|out-of-place|Pod|prefill|PUE|rank|Scale-Out|Scale-Up|"
    "SHA-256|Slurm|TDP|topology.conf|topology.yaml|token|token/s|tree|UUID|VBIOS|Volcano|Webhook"
)


@cache
def sources() -> Catalog:
    return collect_messages.template_of_sources()


@cache
def catalogue(language: str) -> Catalog:
    return collect_messages.read_catalogue(CATALOGUES[language])


def texts(message: Message) -> list[tuple[str, str]]:
    """Pairs of text and translation; a plural's one form stands for what its plural text says."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))]
    return [(message.id[-1], str(one)) for one in message.string]


def pairs(language: str) -> list[tuple[str, str]]:
    return [pair for message in catalogue(language) if message.id for pair in texts(message)]


def test_there_is_a_simplified_chinese_catalogue() -> None:
    assert "zh_Hans" in CATALOGUES


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_text_of_the_sources_is_translated(language: str) -> None:
    ready = catalogue(language)
    absent = [str(one.id) for one in sources() if one.id and ready.get(one.id, one.context) is None]
    missing = [*absent, *collect_messages.missing_in(ready)]
    assert not missing, "run scripts/collect_messages.py and translate what it brings"


@pytest.mark.parametrize("language", CATALOGUES)
def test_nothing_is_translated_that_no_source_says(language: str) -> None:
    known = sources()
    gone = [one.id for one in catalogue(language) if one.id and known.get(one.id, one.context) is None]
    assert not gone, "run scripts/collect_messages.py"
    assert not catalogue(language).obsolete


@pytest.mark.parametrize("language", CATALOGUES)
def test_translations_keep_the_placeholders(language: str) -> None:
    for text, translation in pairs(language):
        assert sorted(PLACEHOLDER.findall(translation)) == sorted(PLACEHOLDER.findall(text)), text


def test_chinese_has_one_plural_form() -> None:
    assert catalogue("zh_Hans").num_plurals == 1
    for message in catalogue("zh_Hans"):
        assert isinstance(message.id, str) or len(message.string) == 1, message.id


def test_only_names_and_units_stay_as_they_are_in_chinese() -> None:
    for text, translation in pairs("zh_Hans"):
        words = re.findall(r"[A-Za-z][A-Za-z0-9./-]*", PLACEHOLDER.sub(" ", translation))
        assert HAN.search(translation) or all(NAME.fullmatch(word) for word in words), text


def test_chinese_keeps_its_distance_from_latin_letters_and_uses_its_own_punctuation() -> None:
    touching = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]|[\u4e00-\u9fff][,;:?!()]")
    wrong = [one for _text, one in pairs("zh_Hans") if touching.search(PLACEHOLDER.sub(" ", one))]
    assert not wrong
