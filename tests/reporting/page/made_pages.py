"""Pages of made-up results."""

import re
from html import unescape
from pathlib import Path
from typing import Any

from mohone.reporting.page.extras import Change, Extras
from mohone.reporting.page.render import page_of
from tests.reporting.made_up import found, result


def detailed(**changed: Any) -> dict[str, Any]:
    """A result that has all that a page can show."""
    each = result(**changed)
    each["dataset"] |= {"n_test": 1000, "n_entities": 50, "fingerprint": "0123456789abcdef"}
    each["config"] = {"dim": 7, "kge_model": {"margin": each["seed"]}, "store_dir": None}
    each["seconds"] = {"netemb": 20.0, "baseline": 100.0, "infusion": 5.0, "evaluation": 9.0}
    each["versions"] = {"torch": "2.13.0"}
    each["selection"] |= {
        "valid_mrr_baseline": 0.3,
        "grid": [
            {"side": "both", "neighbors": k, "beta": beta, "valid_mrr": 0.3 + beta * k / 100}
            for k in (3, 10)
            for beta in (0.1, 0.2)
        ],
    }
    for which, gain in (("baseline", 0.0), ("infused", 0.01)):
        for setting in each[which]:
            each[which][setting]["degrees"] = {
                "0": None,
                "1": {"mrr": 0.1 - gain, "n_ranked": 7},
                "2-3": {"mrr": 0.2 + 3 * gain, "n_ranked": 1234},
            }
            each[which][setting]["distances"] = {"1": {"mrr": 0.1 + gain, "n_ranked": 5}, "more": None}
        each[which]["filtered"]["relations"] = {
            "likes": {"mrr": 0.5 - 4 * gain, "n_ranked": 30},
            "<b>knows</b>": {"mrr": 0.2 + 5 * gain, "n_ranked": 70},
            "has": {"mrr": 0.3 + gain, "n_ranked": 100},
        }
        each[which]["numbers_per_entity"] = 14
    return each


EXTRAS = Extras(
    command="python -m mohone.run dim=7",
    curves={"baseline": [{"epoch": i, "train/loss": 5.0 - i, "valid/mrr": 0.1 * i} for i in range(4)]},
    wins=[Change("ann", "likes", "bob", "tail", 40, 1, ["+2.0 votes: cy has it, too"])],
    losses=[Change("bob", "likes", "cy", "head", 1, 9, [], "dan", ["+1.0 heat", "-0.5 paths: a rule"])],
)


def one(tmp_path: Path, **changed: Any) -> str:
    """The page of a single job."""
    results = found(tmp_path, detailed(**changed))
    return page_of(results, "One", {results[0][0].parent: EXTRAS})


def many(tmp_path: Path) -> str:
    """The page of a sweep: two models, two network embeddings, a control, a failed job, two data sets."""
    error = "Traceback\nTrainingError: <it broke>"
    failed = result("rescal", status="failed", error=error, infused=None, baseline=None)
    results = found(
        tmp_path,
        detailed(model="transe", netemb="shnb", after=0.33),
        detailed(model="transe", netemb="struct", after=0.29, p=0.001),
        detailed(model="complex", netemb="shnb", before=0.40, after=0.405, p=0.4),
        result("complex", "shnb", 0.40, 0.40, p=1.0, infusion="retrain"),
        failed,
        result("mine", "shnb", 0.5, 0.6, dataset={"name": "other"}, recipe="strong"),
    )
    return page_of(results, "Many", {results[0][0].parent: EXTRAS})


def text_of(html: str) -> str:
    """What a reader sees, in one line."""
    body = re.sub(r"<(style|script).*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"[ \n]+", " ", unescape(re.sub(r"<[^>]+>", " ", body))).strip()


def rows_of(html: str, table: str) -> list[str]:
    """The text of the body's rows of the first table of a class."""
    start = html.index(f'<table class="{table}"')
    body = html[html.index("<tbody>", start) : html.index("</tbody>", start)]
    return [text_of(row) for row in body.split("<tr>")[1:]]
