"""`python scripts/pykeen_folders.py OUT`, in an environment with pykeen: the folders of `tests/elsewhere`.

Each is what `PipelineResult.save_to_directory` writes of a tiny model, and beside it `scores.json`: PyKEEN's
own scores, `tails[head][relation][tail]` and `heads[relation][tail][head]`.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pykeen.pipeline import pipeline
from pykeen.triples import TriplesFactory

NAMES = {"a": "01", "b": "1", "c": 'c "c"', "d": "NA", "e": "é"}
TRAIN = ("a r b", "b r c", "c r d", "d s a", "a s c", "b s d", "e r a")
SQUARED = {"scoring_fct_norm": 2, "power_norm": True}
MODELS: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "transe": ("TransE", False, {}),
    "transe-squared-inverse": ("TransE", True, SQUARED),
    "distmult": ("DistMult", False, {}),
    "complex": ("ComplEx", False, {}),
    "complex-inverse": ("ComplEx", True, {}),
    "rescal": ("RESCAL", False, {}),
    "transh": ("TransH", False, {}),
    "transh-squared-inverse": ("TransH", True, SQUARED),
    "transr": ("TransR", False, {"relation_dim": 3}),
    "transr-inverse": ("TransR", True, {"relation_dim": 5, "scoring_fct_norm": 2}),
    "transd": ("TransD", False, {"relation_dim": 3}),
    "transd-inverse": ("TransD", True, {"relation_dim": 5, "interaction_kwargs": {"power_norm": False}}),
    "rotate": ("RotatE", False, {}),
}


def main() -> None:
    """Write all folders."""
    logging.disable(logging.WARNING)
    out = Path(sys.argv[1])
    triples = np.array([[NAMES.get(part, part) for part in line.split()] for line in TRAIN])
    for name, (model, inverse, kwargs) in MODELS.items():
        train = TriplesFactory.from_labeled_triples(triples, create_inverse_triples=inverse)
        result = pipeline(
            training=train,
            testing=train,
            model=model,
            model_kwargs={"embedding_dim": 4, **kwargs},
            training_kwargs={"num_epochs": 3, "use_tqdm": False},
            evaluation_kwargs={"use_tqdm": False},
            evaluation_fallback=False,
            random_seed=0,
            device="cpu",
        )
        with torch.no_grad():  # Longer vectors than a young model has, so that all of a score matters.
            for table in result.model.parameters():
                table.mul_(1.5).add_(0.1)
        result.save_to_directory(out / name)
        for large in ("base.pth", "numeric_triples.tsv.gz"):  # Nobody reads them.
            (out / name / "training_triples" / large).unlink()
        for large in ("metadata.json", "results.json"):
            (out / name / large).write_text("{}\n")
        (out / name / "scores.json").write_text(json.dumps(scores(result.model, train)) + "\n")


@torch.no_grad()
def scores(model: Any, train: TriplesFactory) -> dict[str, Any]:
    """All of them, by PyKEEN."""
    n, m = train.num_entities, train.real_num_relations
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(m))
    tails = model.predict_t(pairs).view(n, m, n)
    heads = model.predict_h(pairs.flip(1)).view(n, m, n).transpose(0, 1)
    return {"tails": tails.tolist(), "heads": heads.tolist()}


if __name__ == "__main__":
    main()
