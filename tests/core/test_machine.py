"""Memory that is left, by files as the kernel has them."""

from pathlib import Path

import pytest

from mohone.core import machine

KB, MB = 1 << 10, 1 << 20


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path / "cgroup")
    write(tmp_path / "proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    write(tmp_path / "proc/self/status", "Name:\tpython\nVmRSS:\t    1234 kB\n")
    return tmp_path


def test_what_a_process_holds(kernel: Path) -> None:
    assert machine.held_memory() == 1234 * KB
    (kernel / "proc/self/status").unlink()
    assert machine.held_memory() == 0


def test_the_machine_is_the_limit_where_no_other_is(kernel: Path) -> None:
    assert machine.memory_left() == 8000 * KB
    write(kernel / "proc/self/cgroup", "0::/\n")
    write(kernel / "cgroup/memory.max", "max\n")
    assert machine.memory_left() == 8000 * KB


def test_the_least_of_the_limits_of_a_cgroup_and_those_around_it_counts(kernel: Path) -> None:
    write(kernel / "proc/self/cgroup", "0::/slurm/job_7/step_0\n")
    for folder, limit, used, cache in (
        ("slurm/job_7", 5 * MB, 3 * MB, MB),
        ("slurm/job_7/step_0", "max", 0, 0),
    ):
        write(kernel / "cgroup" / folder / "memory.max", f"{limit}\n")
        write(kernel / "cgroup" / folder / "memory.current", f"{used}\n")
        write(kernel / "cgroup" / folder / "memory.stat", f"anon 1\ninactive_file {cache}\n")
    assert machine.memory_left() == 3 * MB


def test_cgroups_of_version_1(kernel: Path) -> None:
    write(kernel / "proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n")
    for folder, limit in (("memory", 1 << 62), ("memory/x", 4 * MB)):
        write(kernel / "cgroup" / folder / "memory.limit_in_bytes", f"{limit}\n")
        write(kernel / "cgroup" / folder / "memory.usage_in_bytes", f"{MB}\n")
        write(kernel / "cgroup" / folder / "memory.stat", "total_inactive_file 0\n")
    assert machine.memory_left() == 3 * MB


def test_where_nobody_can_say(kernel: Path) -> None:
    (kernel / "proc/meminfo").unlink()
    assert machine.memory_left() is None
