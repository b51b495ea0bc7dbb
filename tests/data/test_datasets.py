import random
from pathlib import Path

import pytest
import torch

from mohone.core.errors import DataError
from mohone.data import FolderDataset, KnowledgeGraph, PackagedDataset, PublishedDataset
from mohone.data.ordering import fingerprint
from tests.helpers.graphs import BASE, kg_of, write_folder

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("name", "counts"),
    [("umls", (135, 46, 5216, 652, 661)), ("kinships", (104, 25, 8544, 1068, 1074))],
)
def test_packaged_datasets(name: str, counts: tuple[int, ...]) -> None:
    kg = PackagedDataset(name).load()
    splits = (kg.train, kg.valid, kg.test)
    assert (kg.n_entities, kg.n_relations, *map(len, splits)) == counts
    assert kg.report.warnings == []


def test_ids_give_the_names_back(base: KnowledgeGraph) -> None:
    names = [
        f"{base.entities.names[h]} {base.relations.names[r]} {base.entities.names[t]}"
        for h, r, t in base.train.tolist()
    ]
    assert sorted(names) == sorted(BASE["train"])


def test_line_order_and_repetitions_change_nothing() -> None:
    shuffled = {split: lines * 2 for split, lines in BASE.items()}
    for lines in shuffled.values():
        random.Random(0).shuffle(lines)
    one, other = kg_of(BASE), kg_of(shuffled)
    assert one.fingerprint == other.fingerprint
    assert one.entities.names == other.entities.names
    assert all(torch.equal(getattr(one, s), getattr(other, s)) for s in BASE)


def test_fingerprint_tells_splits_and_fields_apart() -> None:
    swapped = {"train": BASE["train"], "valid": BASE["test"], "test": BASE["valid"]}
    assert kg_of(swapped).fingerprint != kg_of(BASE).fingerprint
    assert fingerprint([("a", "b", "c")]) != fingerprint([("a", "b", "d")])


def test_weights_have_a_part_in_the_fingerprint(base: KnowledgeGraph) -> None:
    one = base.weighted(torch.tensor([1.0, 2, 3, 4, 5, 6]))
    other = base.weighted(torch.tensor([6.0, 5, 4, 3, 2, 1]))
    assert len({base.fingerprint, one.fingerprint, other.fingerprint}) == 3
    assert base.weighted(torch.tensor([1, 2, 3, 4, 5, 6])).fingerprint == one.fingerprint
    assert torch.equal(one.train, base.train)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 5, "There must be a weight for each of 6 training triples, but there are 5"),
        ([1.0] * 5 + [0.0], "must be finite and > 0"),
        ([1.0] * 5 + [float("nan")], "must be finite and > 0"),
        ([1.0] * 5 + [float("inf")], "must be finite and > 0"),
    ],
)
def test_weights_that_cannot_be_are_refused(base: KnowledgeGraph, weights: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        base.weighted(torch.tensor(weights))


def test_report_counts_duplicates_overlaps_and_the_unseen() -> None:
    kg = kg_of(
        {
            "train": ["a r b", "a r b", "b r c"],
            "valid": ["a r b"],
            "test": ["b r c", "zz r a", "b qq c"],
        }
    )
    text = "\n".join(kg.report.lines())
    assert "train: 3 lines, 2 unique, 1 duplicate (counted once)" in text
    assert "valid: 1 line, 1 unique, 1 also in train" in text
    assert "1 unseen entity and 1 unseen relation in 2 triples, ranked like all others" in text
    assert len(kg.test) == 3


def test_report_warns_of_triples_that_two_splits_have() -> None:
    kg = kg_of(
        {
            "train": ["a r b", "b r c", "c r d", "d r e"],
            "valid": ["a r b", "a r e", "b r e"],
            "test": ["a r b", "b r c", "a r e", "c r e"],
        }
    )
    assert {split: counts.repeats for split, counts in kg.report.splits.items()} == {
        "train": {},
        "valid": {"train": 1},
        "test": {"train": 2, "valid": 2},
    }
    valid_train, test_train, test_valid = kg.report.warnings
    assert valid_train.startswith("1 of 3 valid triples (33.3%) stands in train, too: what is chosen on")
    assert test_train.startswith("2 of 4 test triples (50.0%) stand in train, too: a model has seen")
    assert test_valid.startswith("2 of 4 test triples (50.0%) stand in valid, too: the figures on test")


def test_report_warns_of_exchanged_columns() -> None:
    kg = kg_of({"train": ["a b r", "b c r", "c a r"], "valid": ["a r c"], "test": ["a r b"]})
    text = " ".join(kg.report.warnings)
    assert "is a file written head, tail, relation?" in text
    assert "4 names stand for an entity and a relation, such as 'a'" in text
    kg = kg_of({"train": ["a b r", "c d e"], "valid": ["a r c"], "test": ["a d e"]})
    assert "1 name stands for an entity and a relation, such as 'r'" in " ".join(kg.report.warnings)


def test_names_that_differ_in_case_or_zeros_stay_apart() -> None:
    kg = kg_of({"train": ["1 r 01", "a r A"], "valid": ["1 r a"], "test": ["1 r A"]})
    assert kg.entities.names == ("01", "1", "A", "a")


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_empty_and_missing_splits_are_named(tmp_path: Path, split: str) -> None:
    folder = write_folder(tmp_path, BASE)
    (folder / f"{split}.txt").write_text("\n")
    with pytest.raises(DataError, match=f"The {split} split of mine must hold triples, but is empty"):
        FolderDataset("mine", str(folder)).load()
    (folder / f"{split}.txt").unlink()
    with pytest.raises(DataError, match=rf"{split}\.txt or {split}\.tsv must be there, but neither is"):
        FolderDataset("mine", str(folder)).load()


def published(data_dir: Path, sha: dict[str, str]) -> PublishedDataset:
    return PublishedDataset("mine", "base", str(data_dir), (data_dir / "no").as_uri() + "/{split}", sha)


def test_published_dataset_is_checked(tmp_path: Path) -> None:
    write_folder(tmp_path / "base", BASE)
    sha = {s: fingerprint([tuple(x.split()) for x in lines]) for s, lines in BASE.items()}  # type: ignore[misc]
    assert published(tmp_path, sha).load().fingerprint == kg_of(BASE).fingerprint
    with pytest.raises(DataError, match=r"test\.txt must hold the test split of mine"):
        published(tmp_path, {**sha, "test": "0" * 64}).load()


def test_failed_download_says_how_to_help_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"base/train\.txt, which is not there.*data_dir=FOLDER"):
        published(tmp_path, dict.fromkeys(BASE, "")).load()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_wrong_download_is_not_kept(tmp_path: Path) -> None:
    mirror = write_folder(tmp_path / "mirror", BASE)
    dataset = PublishedDataset(
        "mine", "base", str(tmp_path / "new"), mirror.as_uri() + "/{split}.txt", dict.fromkeys(BASE, "0" * 64)
    )
    with pytest.raises(DataError, match="could not be downloaded"):
        dataset.load()
    assert not (tmp_path / "new").exists()


def test_download(tmp_path: Path) -> None:
    mirror = write_folder(tmp_path / "mirror", BASE)
    sha = {s: fingerprint([tuple(x.split()) for x in lines]) for s, lines in BASE.items()}  # type: ignore[misc]
    dataset = PublishedDataset("mine", "base", str(tmp_path / "new"), mirror.as_uri() + "/{split}.txt", sha)
    assert len(dataset.load().train) == 6
    assert sorted(path.name for path in (tmp_path / "new/base").iterdir()) == [
        "test.txt",
        "train.txt",
        "valid.txt",
    ]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark files are not at hand")
def test_fb15k237_is_the_published_one() -> None:
    from hydra import compose, initialize_config_dir

    from mohone.configuration.recipes import register_resolvers
    from mohone.core.config import build
    from mohone.graph.network import Network

    register_resolvers()
    conf = str(Path(__file__).parents[2] / "conf")
    with initialize_config_dir(version_base="1.3", config_dir=conf):
        config = compose("config", ["dataset=fb15k237", f"data_dir={SHARED}"])
    kg: KnowledgeGraph = build("dataset", config.dataset).load()
    counts = (kg.n_entities, kg.n_relations, len(kg.train), len(kg.valid), len(kg.test))
    assert counts == (14541, 237, 272115, 17535, 20466)
    network = Network.from_triples(kg.train, kg.n_entities)
    assert (network.n_edges, int(network.isolated.sum())) == (210946, 36)
    # No pair of its test is linked in train, by the way it was made.
    assert (kg.report.leaks.triples, kg.report.warnings) == (0, [])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark files are not at hand")
def test_a_third_of_wn18rr_can_be_copied() -> None:
    kg = FolderDataset("wn18rr", str(SHARED / "wn18rr")).load()
    leaks = kg.report.leaks
    assert (leaks.triples, len(kg.test)) == (1096, 3134)
    most = leaks.by_relations[0]
    assert (most.relation, most.other, most.reversed, most.pairs) == (
        *["_derivationally_related_form"] * 2,
        True,
        1011,
    )
    assert [pair.relation for pair in leaks.copies] == [
        "_derivationally_related_form",
        "_verb_group",
        "_similar_to",
    ]
    assert [warning[:61] for warning in kg.report.warnings] == [
        "train links the head and the tail of 1,096 test triples (35.0%"[:61]
    ]
