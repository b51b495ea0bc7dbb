"""A trained model as Python has it, before or after an infusion."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mohone.api.data import written
from mohone.api.network import NetworkVectors
from mohone.api.running import runner_of
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import ConfigError, DataError, require_choice
from mohone.core.named_vectors import write_vectors
from mohone.data import KnowledgeGraph
from mohone.data.knowledge_graph import Vocabulary
from mohone.data.queries import ASKED
from mohone.evaluation.best_answers import Answer, Wanted, best_answers
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.metrics import report
from mohone.experiment.job import run_stages
from mohone.experiment.trained import TrainedJob
from mohone.kge import KGEModel


class Model:
    """A trained model.

    Args:
        job: what it came out of.
        baseline: the model before the infusion, if it is at hand.
    """

    def __init__(self, job: TrainedJob, baseline: Model | None = None) -> None:
        self._job, self._baseline = job, baseline

    @property
    def kg(self) -> KnowledgeGraph:
        """The data set."""
        return self._job.kg

    @property
    def config(self) -> Plain:
        """All settings."""
        return self._job.runner.plan.config

    @property
    def is_infused(self) -> bool:
        """Has it been infused, whatever validation chose?"""
        return self._job.is_infused

    @cached_property
    def baseline(self) -> Model:
        """The model before the infusion; itself, if there was none."""
        if not self.is_infused:
            return self
        if self._baseline is not None:
            return self._baseline
        bare = {**self.config, "netemb": {}, "infusion": {}}
        bare[CHOICES] = {**self.config[CHOICES], "netemb": "none", "infusion": "none"}
        return Model(TrainedJob(runner_of(self.kg, bare)))

    @property
    def network(self) -> NetworkVectors:
        """The network embedding that it was infused with.

        Raises:
            DataError: there is none.
        """
        if not self._job.has_network:
            raise DataError("The model must be infused with a network embedding, but has none.")
        return NetworkVectors(self._job)

    @property
    def module(self) -> KGEModel:
        """The torch module: `score_tails`, `score_heads`, `score_triples` on ids."""
        return self._job.model

    @property
    def vectors(self) -> np.ndarray:
        """The entity vectors, `(n_entities, numbers)`, in the order of `kg.entities.names`."""
        return self.module.entity_vectors.detach().cpu().numpy()

    def evaluate(self, split: str = "test") -> dict[str, Any]:
        """Link prediction: MRR, Hits@1/3/10, MR and AMRI by setting (`filtered`, `typed`, `typed_train`).

        Args:
            split: `test`, or `valid`, which chose (filtered by train and valid alone).

        Returns:
            `{"filtered": {"mrr": ..., ...}, ...}`; for an infused model on test also `baseline`, in the same
            form, and `significance` of the gain by setting and metric.
        """
        if require_choice("split", split, ("test", "valid")) == "valid":
            return report(LinkPrediction(self.kg, "valid").ranks(self.module), self.kg.valid, self.kg)
        figures = self._job.report
        if not self.is_infused:
            return dict(figures["baseline"])
        return {
            **figures["infused"],
            "baseline": figures["baseline"],
            "significance": figures["significance"],
        }

    def predict(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        top: int = 10,
        *,
        known: bool = False,
        typed: bool = False,
        own: bool | None = None,
    ) -> list[Answer]:
        """The best answers to a query with one open place, best first.

        Args:
            head, relation, tail: names; the one that is asked for is left out.
            top: at most so many.
            known, typed, own: of `mohone.evaluation.best_answers.Wanted`.

        Returns:
            of each its name, score, the first split that has the triple (empty: none) and id.

        Raises:
            ConfigError: not two are given.
            DataError: a name that is none.
        """
        given = {"head": head, "relation": relation, "tail": tail}
        if sum(name is not None for name in given.values()) != 2:
            raise ConfigError("Two of `head`, `relation` and `tail` must be given, but are not.")
        kg = self.kg
        query = _id(kg.entities, head), _id(kg.relations, relation), _id(kg.entities, tail)
        return best_answers(self.module, kg, query, Wanted(top, known, typed, own))

    def save(self, folder: str | Path) -> None:
        """Leave it as a command's job would be left: `open_job` and all commands read it.

        Args:
            folder: a new one, or one that holds this very model. Triples that came from memory are written
                there, too.

        Raises:
            OccupiedError: it holds another's.
        """
        folder = Path(folder).absolute()
        config = {**self.config, "dataset": written(self.kg, folder, self.config["dataset"])}
        run_stages(runner_of(self.kg, config, folder), folder, figures=self._job.figures)

    def export(self, file: str | Path) -> None:
        """Write the entity vectors with their names: `.npz`, `.safetensors` or `.txt` (word2vec's text)."""
        write_vectors(Path(file), self.kg.entities.names, self.module.entity_vectors.detach().cpu())

    def __repr__(self) -> str:
        named = self.config[CHOICES]
        how = f", infused by {named['infusion']} with {named['netemb']}" if self.is_infused else ""
        return f"<{named['kge_model']} of {self.kg.name}{how}>"


def _id(vocabulary: Vocabulary, name: str | None) -> int:
    return ASKED if name is None else vocabulary.id_of(name)
