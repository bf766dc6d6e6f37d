"""Models that studies offer: each goes into a document and comes out the same."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.model_catalogue import shipped_models
from apps.planning.documents import model_document
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.reading_model import read_model


@pytest.mark.parametrize("model_id", sorted(shipped_models()))
def test_a_catalogue_model_survives_its_document(model_id):
    spec = shipped_models()[model_id].spec
    fields = Fields(model_document(spec), "")
    assert read_model(fields) == spec, fields.errors
