"""A trained model as Python has it, before or after an infusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mohone.api.data import keep, node_of
from mohone.api.figures import Figures
from mohone.api.network import NetworkVectors
from mohone.api.running import runner_of
from mohone.api.view import View, read_only
from mohone.core.config import CHOICES
from mohone.core.errors import ConfigError, DataError, require_choice, require_int
from mohone.data.corruption import draw_negatives
from mohone.data.memory import named_triples
from mohone.data.named_triples import encode_known
from mohone.data.queries import ASKED
from mohone.data.vocabulary import Vocabulary
from mohone.evaluation.best_answers import Answer, Wanted, best_answers
from mohone.evaluation.classification import Classifier, fit_classifier
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.metrics import report
from mohone.experiment.job import run_stages
from mohone.experiment.trained import TrainedJob
from mohone.kge import KGEModel
from mohone.opened.neighborhoods import neighborhoods, spaces_of
from mohone.reporting.results import finished


class Neighbor(NamedTuple):
    """An entity near another: its name and how near: the cosine, or the distance."""

    name: str
    closeness: float


class Verdict(NamedTuple):
    """The chance that a triple is true, and whether that is enough."""

    probability: float
    plausible: bool


class Model(View):
    """A trained model.

    Args:
        job: what it came out of.
        baseline: the model before the infusion, if it is at hand.
    """

    def __init__(self, job: TrainedJob, baseline: Model | None = None) -> None:
        super().__init__(job)
        self._baseline = baseline
        self._classifiers: dict[int, Classifier] = {}  # By the seed of what they were fitted on.

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
        """The entity vectors, `(n_entities, numbers)`, in the order of `kg.entities.names`, read-only."""
        return read_only(self.module.entity_vectors.detach().cpu())

    def evaluate(self, split: str = "test") -> Figures:
        """Link prediction: MRR, Hits@1/3/10, MR and AMRI by setting (`filtered`, `typed`, `typed_train`).

        Args:
            split: `test`, or `valid`, which chose (filtered by train and valid alone).

        Returns:
            `{"filtered": {"mrr": ..., ...}, ...}`; for an infused model on test also `baseline`, in the same
            form, and `significance` of the gain by setting and metric. It shows as a table of the main
            figures.
        """
        if require_choice("split", split, ("test", "valid")) == "valid":
            ranks = LinkPrediction(self.kg, "valid").ranks(self.module)
            return Figures(report(ranks, self.kg.valid, self.kg))
        figures = self._job.report
        if not self.is_infused:
            return Figures(figures["baseline"])
        both = {key: figures[key] for key in ("baseline", "significance")}
        return Figures({**figures["infused"], **both})

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
            named = ", ".join(f"`{part}`" for part, name in given.items() if name is not None)
            raise ConfigError(
                "Two of `head`, `relation` and `tail` must be given, and the third is asked for; but "
                f"given are {named or 'none'}."
            )
        kg = self.kg
        query = _id(kg.entities, head), _id(kg.relations, relation), _id(kg.entities, tail)
        return best_answers(self.module, kg, query, Wanted(top, known, typed, own))

    def explain(self, head: str, relation: str, tail: str, side: str = "tail") -> list[str]:
        """What spoke for an answer and against it, in sentences, the strongest first.

        Args:
            head, relation, tail: names.
            side: which of `tail` and `head` is the answer.

        Returns:
            none where the infusion cannot say: only `evidence` can.
        """
        kg, ends = self.kg, {"head": head, "tail": tail}
        answer = ends.pop(require_choice("side", side, ("tail", "head")))
        (known,) = ends.values()
        query = kg.entities.id_of(known), kg.relations.id_of(relation)
        return self._job.why(side, query, kg.entities.id_of(answer))

    def neighbors(self, name: str, top: int = 10, metric: str = "cosine") -> dict[str, list[Neighbor]]:
        """The nearest entities of one before and after the infusion, and in network space, nearest first.

        Returns:
            by space (`before`, `after`, `network`; or `model`, if no vector moved) their names and closeness.

        Raises:
            DataError: the name is none.
        """
        require_int("top", top, 1)
        entity, names = self.kg.entities.id_of(name), self.kg.entities.names
        found = neighborhoods(spaces_of(self._job), entity, top, metric)
        return {
            space: [
                Neighbor(names[i], x)
                for i, x in zip(near.rows.tolist(), near.closeness.tolist(), strict=True)
            ]
            for space, near in found.items()
        }

    def classify(self, triples: Iterable[Sequence[str]], seed: int = 0) -> list[Verdict]:
        """Is a triple plausible? Thresholds by relation and probabilities are fitted on validation.

        Args:
            triples: names of head, relation, tail.
            seed: of the false triples that are drawn for validation.

        Raises:
            DataError: a name that is none.
        """
        asked = named_triples(triples)
        if seed not in self._classifiers:
            drawn = draw_negatives(self.kg, "valid", typed=False, seed=seed)
            self._classifiers[seed] = fit_classifier(self.module, self.kg, drawn)
        verdicts = self._classifiers[seed].classify(encode_known("`triples`", asked, self.kg))
        return [Verdict(*each) for each in zip(*(each.tolist() for each in verdicts), strict=True)]

    def save(self, folder: str | Path) -> None:
        """Leave it as a command's job would be left: `open_job` and all commands read it.

        Args:
            folder: a new one, or one that holds this very model. Triples that came from memory are written
                there, too.

        Raises:
            OccupiedError: it holds another's.
            DataError: it is a file, or its `data` has other triples.
        """
        folder = Path(folder).absolute()
        if folder.is_file():
            raise DataError(f"{folder} must be a folder, but is a file.")
        node = node_of(self.kg, folder, self.config["dataset"])
        runner = runner_of(self.kg, {**self.config, "dataset": node}, folder)
        finished(folder, runner.keys, runner.plan.config, self.kg.fingerprints)  # Refuses before all else.
        keep(self.kg, node)
        run_stages(runner, folder, figures=self._job.figures)

    def export(self, file: str | Path) -> None:
        """Write the entity vectors with their names: `.npz`, `.safetensors` or `.txt` (word2vec's text)."""
        self._write(file, self.module.entity_vectors)

    def __repr__(self) -> str:
        named = self.config[CHOICES]
        how = f", infused by {named['infusion']} with {named['netemb']}" if self.is_infused else ""
        return f"<{named['kge_model']} of {self.kg.name}{how}>"


def _id(vocabulary: Vocabulary, name: str | None) -> int:
    return ASKED if name is None else vocabulary.id_of(name)
