"""The stages of a job, in one form: what each depends on, how it is trained, how it is read back."""

from mohone.experiment.stages.base import Stage, Trained
from mohone.experiment.stages.baseline import BaselineStage
from mohone.experiment.stages.infusion import InfusionStage
from mohone.experiment.stages.network import NetworkStage
from mohone.experiment.stages.runner import Runner

__all__ = ["BaselineStage", "InfusionStage", "NetworkStage", "Runner", "Stage", "Trained"]
