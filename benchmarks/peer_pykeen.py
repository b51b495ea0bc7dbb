"""`python peer_pykeen.py train|evaluate ...`, in an environment with pykeen: train a model, or rank with one.

    peer_pykeen.py train DATA MODEL OUT       DATA holds train.txt, valid.txt and test.txt
    peer_pykeen.py evaluate DATA FOLDER       FOLDER is one that PyKEEN's `save_to_directory` wrote, or a copy

The second prints PyKEEN's own filtered figures on test as JSON. Models and objective have PyKEEN's settings,
but for what `SETTINGS` says: with its own (five epochs, one negative) nothing is learned.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from pykeen.evaluation import RankBasedEvaluator
from pykeen.pipeline import pipeline
from pykeen.triples import TriplesFactory

SETTINGS: dict[str, dict[str, Any]] = {
    "transe": {
        "model": "TransE",
        "model_kwargs": {"embedding_dim": 64, "scoring_fct_norm": 1, "entity_constrainer": None},
        "loss": "NSSALoss",
        "loss_kwargs": {"margin": 9.0, "adversarial_temperature": 1.0},
        "optimizer_kwargs": {"lr": 0.005},
        "epochs": 80,
    },
    "complex": {
        "model": "ComplEx",
        "model_kwargs": {"embedding_dim": 32},
        "loss": "SoftplusLoss",
        "optimizer_kwargs": {"lr": 0.01},
        "epochs": 120,
    },
}
FIGURES = {
    "mrr": "both.realistic.inverse_harmonic_mean_rank",
    "hits@1": "both.realistic.hits_at_1",
    "hits@10": "both.realistic.hits_at_10",
}


def factories(data: Path, like: TriplesFactory | None = None) -> dict[str, TriplesFactory]:
    """The three splits, over the names of train, or those of a factory."""
    train = like or TriplesFactory.from_path(data / "train.txt")
    maps = {"entity_to_id": train.entity_to_id, "relation_to_id": train.relation_to_id}
    more = {split: TriplesFactory.from_path(data / f"{split}.txt", **maps) for split in ("valid", "test")}
    return {"train": train, **more}


def train(data: Path, model: str, out: Path) -> None:
    """Train by PyKEEN's pipeline, and write its folder."""
    splits = factories(data)
    settings = dict(SETTINGS[model])
    result = pipeline(
        training=splits["train"],
        validation=splits["valid"],
        testing=splits["test"],
        training_kwargs={"num_epochs": settings.pop("epochs"), "batch_size": 256, "use_tqdm": False},
        negative_sampler_kwargs={"num_negs_per_pos": 32},
        evaluation_kwargs={"use_tqdm": False},
        optimizer="Adam",
        random_seed=0,
        device="cpu",
        **settings,
    )
    result.save_to_directory(out)


def evaluate(data: Path, folder: Path) -> dict[str, float]:
    """PyKEEN's filtered figures on test, of the model in a folder."""
    splits = factories(data, TriplesFactory.from_path_binary(folder / "training_triples"))
    model = torch.load(folder / "trained_model.pkl", weights_only=False)
    known = [splits[split].mapped_triples for split in ("train", "valid")]
    results = RankBasedEvaluator(filtered=True).evaluate(
        model,
        splits["test"].mapped_triples,
        additional_filter_triples=known,
        batch_size=256,
        use_tqdm=False,
    )
    return {name: float(results.get_metric(key)) for name, key in FIGURES.items()}


def main() -> None:
    """Do what the arguments say."""
    kind, data, *more = sys.argv[1:]
    torch.set_num_threads(1)
    if kind == "train":
        train(Path(data), more[0], Path(more[1]))
    else:
        print(json.dumps(evaluate(Path(data), Path(more[0]))))


if __name__ == "__main__":
    main()
