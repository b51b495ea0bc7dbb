"""Triples in, a trained model out: objectives, losses, the module, the data module, the fit."""

from mohone.training.k_vs_all import KvsAll
from mohone.training.negative_sampling import NegativeSampling
from mohone.training.objective import Objective
from mohone.training.one_vs_all import OneVsAll
from mohone.training.settings import Fit, Training

__all__ = ["Fit", "KvsAll", "NegativeSampling", "Objective", "OneVsAll", "Training"]
