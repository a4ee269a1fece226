"""The wheels of `make wheels` work where no compiler is: no cargo in the PATH, a fresh environment."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from plan_support import ROOT

DIST = ROOT / "dist"
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
"""`e_machine` (elf(5))."""
BUILD_S, INSTALL_S, DEMO_S = 3600, 600, 300


@pytest.fixture(scope="module")
def wheels() -> list[Path]:
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run(["make", "wheels"], cwd=ROOT, check=True, timeout=BUILD_S)
    return sorted(DIST.glob("*.whl"))


def elf_machine(content: bytes) -> int:
    assert content[:4] == b"\x7fELF"
    return int.from_bytes(content[18:20], "little")


def program(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (entry for entry in archive.namelist() if entry.endswith("/flowsweep-engine"))
        return archive.read(name)


@pytest.mark.parametrize("machine", ELF_MACHINES)
def test_a_wheel_holds_the_engine_of_its_machine(wheels: list[Path], machine: str) -> None:
    (own,) = (path for path in wheels if path.name.endswith(f"_{machine}.whl"))
    assert own.name.startswith("flowsweep_engine-")
    platforms = own.stem.rpartition("-")[2].split(".")
    assert {f"manylinux2014_{machine}", f"musllinux_1_1_{machine}"} <= set(platforms)
    (beside,) = DIST.glob(f"flowsweep_engine_{machine}-*-py3-none-any.whl")
    assert program(own) == program(beside)
    assert elf_machine(program(own)) == ELF_MACHINES[machine]


def test_the_demo_runs_from_wheels_without_a_compiler(wheels: list[Path], tmp_path: Path) -> None:
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=INSTALL_S)
    path = f"{home / 'bin'}:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert shutil.which("cargo", path=path) is None
    other = next(machine for machine in ELF_MACHINES if machine != os.uname().machine)
    pip = [str(home / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    names = ("flowsweep-*", f"flowsweep_engine-*_{os.uname().machine}", f"flowsweep_engine_{other}-*")
    files = [str(path) for name in names for path in DIST.glob(f"{name}.whl")]
    environment = {"PATH": path, "HOME": str(tmp_path)}
    subprocess.run([*pip, *files], check=True, timeout=INSTALL_S, env=environment)

    demo = [str(home / "bin" / "flowsweep"), "demo", "--quick", "--archive", str(tmp_path / "demo")]
    done = subprocess.run(demo, capture_output=True, text=True, timeout=DEMO_S, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "8 trials: 8 ok" in done.stdout
    assert (tmp_path / "demo" / "report.html").stat().st_size > 1_000_000

    known = "from flowsweep.hosts.engine import engines_beside; print(*engines_beside())"
    told = subprocess.run(
        [str(home / "bin" / "python"), "-c", known],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert told.stdout.strip() == f"Linux {other}"
