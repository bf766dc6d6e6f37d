"""Prices: the fields of a cluster's costs that several studies share, in one currency of the reader's choice."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _l

from apps.planning.engine.cost import Prices
from apps.planning.studies import fields as f
from apps.planning.studies.base import Values


class PriceFields(f.StudyForm):
    """What a cluster costs, in any one currency."""

    price_group = (
        _l("Prices, in one currency"),
        ("capital_per_card", "years", "residual_percent", "interest_percent", "energy_per_kwh", "it_kw_per_card",
         "pue", "upkeep_percent"),
    )  # fmt: skip

    capital_per_card = f.number(
        _l("Price of an accelerator"),
        least=0.01,
        help_text=_l("With its share of hosts, network and installation."),
    )
    years = f.number(_l("Years in use"), least=0.1, most=50)
    residual_percent = f.percent(_l("Worth afterwards"))
    interest_percent = f.percent(_l("Interest per year"))
    energy_per_kwh = f.number(_l("Price of a kWh"))
    it_kw_per_card = f.number(_l("Power of an accelerator with its share"), most=100, unit="kW")
    pue = f.number(_l("PUE"), least=1, most=3)
    upkeep_percent = f.percent(_l("Upkeep per year, of the price"))


def start_prices() -> dict[str, Any]:
    """What the fields start from: round figures, to be replaced."""
    return {
        "capital_per_card": 40000,
        "years": 4,
        "residual_percent": 10,
        "interest_percent": 5,
        "energy_per_kwh": 0.1,
        "it_kw_per_card": 1.4,
        "pue": 1.25,
        "upkeep_percent": 5,
    }


def prices_of(values: Values) -> Prices:
    """The prices of cleaned values, shares from 0 to 1."""
    return Prices(
        capital_per_card=values["capital_per_card"],
        years=values["years"],
        energy_per_kwh=values["energy_per_kwh"],
        it_kw_per_card=values["it_kw_per_card"],
        pue=values["pue"],
        upkeep_share_per_year=values["upkeep_percent"] / 100,
        interest_per_year=values["interest_percent"] / 100,
        residual_share=values["residual_percent"] / 100,
    )
