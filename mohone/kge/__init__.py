"""Scores of triples alone: the contract of a model, its families and wrappers, and the models."""

from mohone.kge.analogy import Analogy
from mohone.kge.base import KGEModel, Query
from mohone.kge.complex import ComplEx
from mohone.kge.distmult import DistMult
from mohone.kge.projected import ProjectedTransD, ProjectedTransH, ProjectedTransR
from mohone.kge.rescal import RESCAL
from mohone.kge.transd import TransD
from mohone.kge.transe import TransE
from mohone.kge.transh import TransH
from mohone.kge.transr import TransR
from mohone.kge.wrapped import Wrapped

__all__ = [
    "RESCAL",
    "Analogy",
    "ComplEx",
    "DistMult",
    "KGEModel",
    "ProjectedTransD",
    "ProjectedTransH",
    "ProjectedTransR",
    "Query",
    "TransD",
    "TransE",
    "TransH",
    "TransR",
    "Wrapped",
]
