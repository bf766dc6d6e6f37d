"""Terms of studies: the formula and the source behind each figure that a study gives, to be shown to people."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from apps.planning.engine.terms import Term

_TERMS = (
    Term(
        key="claims.speedup", formula="(cards x MFU) after / (cards x MFU) before", source="definition of MFU"
    ),
    Term(key="claims.time_saved", formula="1 - 1/speed-up", source="definition"),
    Term(key="claims.equivalent_extra_cards", formula="cards x gain", source="same MFU on every card"),
    Term(key="claims.implied_mfu", formula="FLOPs / (cards x peak x time)", source="definition of MFU"),
    Term(key="claims.implied_time_s", formula="FLOPs / (cards x peak x MFU)", source="definition of MFU"),
    Term(key="claims.efficiency", formula="factor / (cards after / cards before)", source="definition"),
    Term(key="claims.world", formula="TP x PP x DP; experts lie over TP x DP", source="Megatron-LM"),
)

STUDY_TERMS: Mapping[str, Term] = MappingProxyType({term.key: term for term in _TERMS})
