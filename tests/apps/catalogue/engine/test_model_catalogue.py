"""The model catalogue against published parameter counts."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.model_catalogue import (
    CatalogueModel,
    find_model,
    model_named,
    models_by_maker,
    shipped_models,
)
from apps.core.errors import Missing


@pytest.mark.parametrize("model", shipped_models().values(), ids=lambda model: model.id)
def test_every_shape_gives_the_published_parameter_count(model: CatalogueModel) -> None:
    assert model.spec.total_params() == pytest.approx(model.published_params, rel=5e-3)


def test_names_are_found_whatever_their_spelling() -> None:
    assert model_named("LLAMA3.1_405B").id == "llama-3.1-405b"
    assert model_named("Qwen3_235B_a22B (tokendrop)").id == "qwen3-235b-a22b"
    assert model_named("DeepSeekV3 (w/o MTP)").spec.mtp_layers == 0
    assert model_named("DeepSeekV3").spec.mtp_layers == 1


def test_an_unknown_name_is_none_or_missing() -> None:
    assert find_model("Nemotron_3_Nano") is None
    with pytest.raises(Missing):
        model_named("Nemotron_3_Nano")


def test_models_stand_by_maker_and_within_by_generation_and_size():
    makers = models_by_maker()
    assert list(makers) == sorted(makers, key=str.casefold)
    assert sorted(m.id for own in makers.values() for m in own) == sorted(shipped_models())
    meta = [model.id for model in makers["Meta"]]
    assert meta.index("llama-1-65b") < meta.index("llama-2-7b") < meta.index("llama-2-13b")
    assert meta.index("llama-2-70b") < meta.index("llama-3-8b") < meta.index("llama-3.1-405b")
