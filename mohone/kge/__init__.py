"""Floor 2: knowledge-graph embedding models, regimes, losses and the module that trains them."""

from mohone.kge.base import KGEModel, Query
from mohone.kge.complex import ComplEx
from mohone.kge.negative_sampling import NegativeSampling
from mohone.kge.one_vs_all import OneVsAll
from mohone.kge.reciprocal import Reciprocal
from mohone.kge.regime import Regime
from mohone.kge.transe import TransE

__all__ = [
    "ComplEx",
    "KGEModel",
    "NegativeSampling",
    "OneVsAll",
    "Query",
    "Reciprocal",
    "Regime",
    "TransE",
]
