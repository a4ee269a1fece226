"""Build the wheels of Flowsweep and of its engine into dist/, for every architecture from this one machine.

Usage: python tools/build_wheels.py --uv UV [--machine x86_64] [--machine aarch64]

- flowsweep: the controller, for any machine.
- flowsweep_engine: the engine, static, for one kind of machine, where it is put on the PATH.
- flowsweep_engine_MACHINE: the same engine as a file, for any machine: installed beside the other one, it is
  what the controller copies to hosts of that kind.

It needs cargo, rustup (for the targets) and uv. What is C in the engine is compiled by zig, which uv brings
and which knows every architecture.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
ENGINE = "flowsweep-engine"
MACHINES = ("x86_64", "aarch64")
TAGS = ("manylinux2014", "musllinux_1_1")
"""A static program runs under any C library, so that one wheel has both tags."""
BESIDE = """\
[project]
name = "{name}"
version = "{version}"
description = "The engine of Flowsweep for {machine}, to be copied to hosts of that kind"
license = "Apache-2.0"
requires-python = ">=3.11"

[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel.force-include]
"{engine}" = "{package}/{engine}"
"""


def main() -> None:
    """Build all wheels that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--uv", required=True, type=Path, help="the program uv")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="all, if absent")
    arguments = parser.parse_args()
    if shutil.which("rustup") is None:
        sys.exit(
            "rustup is not in the PATH, and it brings the targets: https://rustup.rs says how to install it"
        )
    uv = str(arguments.uv.absolute()) if arguments.uv.parent != Path() else str(arguments.uv)
    run([uv, "build", "--quiet", "--wheel", "--out-dir", str(DIST)], ROOT)
    for machine in arguments.machine or MACHINES:
        with tempfile.TemporaryDirectory() as folder:
            build_engine(uv, machine, Path(folder))
            (wheel,) = Path(folder).glob("*.whl")
            build_beside(uv, machine, wheel)
            wheel.replace(DIST / wheel.name)
    for wheel in sorted(DIST.glob("*.whl")):
        print(f"{wheel.relative_to(ROOT)}  {wheel.stat().st_size / 1e6:.1f} MB")


def build_engine(uv: str, machine: str, folder: Path) -> None:
    """Build the engine's wheel for a kind of machine."""
    target = f"{machine}-unknown-linux-musl"
    installed = subprocess.run(
        ["rustup", "target", "list", "--installed"], check=True, capture_output=True, text=True
    ).stdout.split()
    if target not in installed:
        run(["rustup", "--quiet", "target", "add", target], ROOT)
    maturin = [uv, "run", "--quiet", "--isolated", "--locked", "--only-group", "wheels", "maturin", "build"]
    options = ["--quiet", "--release", "--locked", "--zig", "--target", target, "--compatibility", *TAGS]
    run([*maturin, *options, "--out", str(folder)], ROOT / "engine")


def build_beside(uv: str, machine: str, wheel: Path) -> None:
    """Put the program of an engine's wheel into one that any machine can install."""
    name = f"{ENGINE}-{machine.replace('_', '-')}"
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        (program,) = (entry for entry in archive.namelist() if entry.endswith(f"scripts/{ENGINE}"))
        (Path(folder) / ENGINE).write_bytes(archive.read(program))
        package = name.replace("-", "_")
        text = BESIDE.format(name=name, version=version, machine=machine, engine=ENGINE, package=package)
        (Path(folder) / "pyproject.toml").write_text(text, encoding="utf-8")
        run([uv, "build", "--quiet", "--wheel", "--out-dir", str(DIST)], Path(folder))


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a command; its failure ends this program."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **(environment or {})}, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed with {done.returncode}")


if __name__ == "__main__":
    main()
