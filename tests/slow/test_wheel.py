"""The wheel carries its configuration and its small data sets, and runs where no checkout is."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_wheel_holds_what_it_needs(unpacked: Path) -> None:
    for name in ("conf/config.yaml", "conf/kge_model/transe.yaml", "data/umls/train.txt", "run.py"):
        assert (unpacked / "mohone" / name).is_file()
    packaged = {
        path.relative_to(unpacked / "mohone/conf") for path in (unpacked / "mohone/conf").rglob("*.yaml")
    }
    assert packaged == {path.relative_to(ROOT / "conf") for path in (ROOT / "conf").rglob("*.yaml")}
    (entry_points,) = unpacked.glob("mohone-*.dist-info/entry_points.txt")
    assert "mohone = mohone.run:main" in entry_points.read_text()


def test_wheel_runs_elsewhere(unpacked: Path, tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(unpacked)!r}); import mohone.run; "
        f"assert mohone.run.__file__.startswith({str(unpacked)!r}); sys.exit(mohone.run.main())"
    )
    arguments = ["netemb=none", "dim=4", "training.max_epochs=1", "hydra.run.dir=out"]
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out/result.json").is_file()
