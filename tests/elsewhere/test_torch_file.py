"""Files of torch.save as data: nothing of a pickle runs, and a damaged file is one sentence."""

import contextlib
import io
import os
import pickle
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from mohone.core.errors import DataError
from mohone.core.torch_file import Inert, entries, fault_of_tensors, read_torch_file
from mohone.elsewhere import open_source

FOLDER = Path(__file__).parent / "pykeen/transe"
MODEL = FOLDER / "trained_model.pkl"
ROUNDS = int(os.environ.get("MOHONE_FUZZ", "30"))  # 3000 have been run.


class Malicious:
    """Whoever unpickles it makes a file."""

    def __init__(self, path: Path, call: Any = os.mkdir) -> None:
        self.path, self.call = path, call

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call, (str(self.path),)


def with_pickle(path: Path, data: bytes, other: Path = MODEL) -> Path:
    """The file of a model with another pickle inside."""
    with zipfile.ZipFile(other) as archive, zipfile.ZipFile(path, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, data if name.endswith("/data.pkl") else archive.read(name))
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_that_a_pickle_calls_is_run(tmp_path: Path, protocol: int) -> None:
    data = pickle.dumps([Malicious(tmp_path / "owned"), {"x": Malicious(tmp_path / "owned")}], protocol)
    file = read_torch_file(with_pickle(tmp_path / "bad.pt", data))
    assert not (tmp_path / "owned").exists()
    assert isinstance(file.content[0], Inert)
    assert file.content[0].args == (str(tmp_path / "owned"),)
    pickle.loads(pickle.dumps(Malicious(tmp_path / "owned"), protocol))
    assert (tmp_path / "owned").exists()  # As it would have been.


@pytest.mark.parametrize(
    "code",
    [
        b"cos\nsystem\n(S'touch {}'\ntR.",
        b"(S'touch {}'\nios\nsystem\n.",
        b'c__builtin__\neval\n(S\'open("{}", "w")\'\ntR.',
        b"cbuiltins\ngetattr\n(cos\nO\nS'system'\ntR(S'touch {}'\ntR.",
        b"cbuiltins\ngetattr\n}(S'__class__'\ncos\nsystem\nub.",
        b"\x80\x02ccollections\nOrderedDict\n)R}(S'__class__'\ncos\nsystem\nub.",
    ],
)
def test_no_opcode_runs_anything(tmp_path: Path, code: bytes) -> None:
    path = with_pickle(tmp_path / "bad.pt", code.replace(b"{}", str(tmp_path / "owned").encode()))
    with contextlib.suppress(DataError):
        read_torch_file(path)
    assert not (tmp_path / "owned").exists()


def test_a_malicious_model_is_no_model(tmp_path: Path) -> None:
    data = pickle.dumps(Malicious(tmp_path / "owned"))
    with_pickle(tmp_path / "trained_model.pkl", data)
    with pytest.raises(DataError, match=r"must hold a model of PyKEEN's, but holds something else\."):
        open_source(tmp_path)
    assert not (tmp_path / "owned").exists()


def test_a_claim_of_many_objects_takes_no_memory(tmp_path: Path) -> None:
    read_torch_file(with_pickle(tmp_path / "bad.pt", b"\x80\x02Nr\xff\xff\xff\x7f."))
    with pytest.raises(DataError):
        read_torch_file(with_pickle(tmp_path / "bad.pt", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f."))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.complex64])
def test_types_and_views(tmp_path: Path, dtype: torch.dtype) -> None:
    table = torch.arange(24.0).view(4, 6).to(dtype)
    torch.save({"a": table[1:].T, "b": table}, tmp_path / "a.pt")
    file = read_torch_file(tmp_path / "a.pt")
    assert torch.equal(file.tensor(file.content["a"]), table[1:].T)
    file.copy(tmp_path / "b.pt", {file.content["a"]: torch.zeros(6, 3)})
    again = torch.load(tmp_path / "b.pt", weights_only=True)
    assert torch.equal(again["b"], torch.cat([table[:1], torch.zeros(3, 6).to(dtype)]))


def test_a_tensor_that_reaches_beyond_its_numbers_is_refused(tmp_path: Path) -> None:
    torch.save(torch.ones(4), tmp_path / "a.pt")
    file = read_torch_file(tmp_path / "a.pt")
    for size, stride, offset in (((5,), (1,), 0), ((4,), (2,), 0), ((4,), (1,), 1), ((4,), (1,), -1)):
        file.content.args = (file.content.args[0], offset, size, stride)
        with pytest.raises(DataError, match=r"its tensors cannot be read: ValueError, 4 numbers are too few"):
            file.tensor(file.content)
    with pytest.raises(DataError, match="a tensor is wanted"):
        file.tensor("no tensor")


def is_refused(folder: Path) -> bool:
    """Whether a sentence refuses what is read of a folder; anything else that is raised fails the test."""
    try:
        source = open_source(folder)
        if source.unknown is None:
            source.settings({})
            source.tables(None)  # type: ignore[arg-type]
    except DataError as error:
        return "\n" not in str(error) or pytest.fail(str(error))
    return False


def test_a_damaged_folder_is_one_sentence(tmp_path: Path) -> None:
    """Whatever bytes are changed or cut off, in whichever file: a sentence, or tables of the same shape."""
    draw = random.Random(0)
    whole = {path.name: path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    (tmp_path / "training_triples").mkdir()
    refused = 0
    for _ in range(ROUNDS):
        changed = draw.choice(["trained_model.pkl", "entity_to_id.tsv.gz", "relation_to_id.tsv.gz"])
        for name, place in (
            ("trained_model.pkl", "."),
            ("entity_to_id.tsv.gz", "training_triples"),
            ("relation_to_id.tsv.gz", "training_triples"),
        ):
            data = bytearray(whole[name])
            if name == changed:
                if draw.random() < 0.3:
                    data = data[: draw.randrange(len(data))]
                for _ in range(draw.choice([0, 1, 8])):
                    if data:
                        data[draw.randrange(len(data))] = draw.randrange(256)
            (tmp_path / place / name).write_bytes(data)
        refused += is_refused(tmp_path)
    assert refused > ROUNDS / 3


def test_a_damaged_pickle_is_one_sentence(tmp_path: Path) -> None:
    """The same, behind the checksum."""
    draw = random.Random(1)
    with zipfile.ZipFile(MODEL) as archive:
        data = archive.read("trained_model/data.pkl")
    (tmp_path / "training_triples").symlink_to(FOLDER / "training_triples")
    for _ in range(ROUNDS):
        bad = bytearray(data)
        for _ in range(draw.choice([1, 2, 8])):
            bad[draw.randrange(len(bad))] = draw.randrange(256)
        with_pickle(tmp_path / "trained_model.pkl", bytes(bad))
        is_refused(tmp_path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"no zip")
    with pytest.raises(DataError, match=r"must be a whole file of `torch.save`, but cannot be read: .*"):
        read_torch_file(tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", b"N." + bytes(1000))
    with pytest.raises(DataError, match="its records are compressed"):
        read_torch_file(tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt", "w") as archive:
        archive.writestr("a/other", b"N.")
    with pytest.raises(DataError, match=r"it has no record data.pkl"):
        read_torch_file(tmp_path / "a.pt")
    with pytest.raises(DataError, match="is not there"):
        read_torch_file(tmp_path / "none.pt")


def test_dictionaries_of_either_kind_have_entries() -> None:
    kept = io.BytesIO()
    torch.save({"a": 1}, kept)
    assert entries({"a": 1}) == {"a": 1}
    node = Inert()
    node["b"] = 2
    assert entries(node) == {"b": 2}
    assert entries(3) == {}


def test_a_damaged_name_within_a_file_makes_no_second_line(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("archive/da\nta", b"1234")
    path.write_bytes(path.read_bytes().replace(b"1234", b"1235"))
    assert fault_of_tensors(path) == r"the checksum of 'archive/da\nta' is another"
