"""The wheel carries its configuration and its small data sets, and runs where no checkout is."""

import os
import re
import shutil
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


# Interpreters of environments that have what the package wants: this one, and others that a tester names.
PYTHONS = [sys.executable, *filter(None, os.environ.get("MOHONE_PYTHONS", "").split(os.pathsep))]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_readmes_python_and_a_job_run_from_it(unpacked: Path, tmp_path: Path, python: str) -> None:
    def said(interpreter: str | Path, *command: str) -> str:
        outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        ran = subprocess.run(
            [str(interpreter), *command],
            cwd=tmp_path,
            env={**outside, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    wanted = said(python, "-c", where)
    subprocess.run([python, "-m", "venv", "--without-pip", str(tmp_path / "new")], check=True)
    new = tmp_path / "new/bin/python"
    site = Path(said(new, "-c", where))
    shutil.copytree(unpacked, site, dirs_exist_ok=True)
    (site / "wanted.pth").write_text(wanted)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    lines += (
        "print(mohone.__file__, base.evaluate()['filtered']['mrr'], infused.evaluate()['filtered']['mrr'])"
    )
    file, before, after = said(new, "-c", lines).splitlines()[-1].split()
    assert Path(file).is_relative_to(site)
    assert float(before) < float(after)
    assert (tmp_path / "here/result.json").is_file()
    arguments = ["netemb=none", "dim=4", "training.max_epochs=1", "hydra.run.dir=out"]
    said(new, "-m", "mohone.run", *arguments)
    assert (tmp_path / "out/result.json").is_file()
