"""Plays one target: `play.py TARGET [libFuzzer's options] [files and folders of inputs]`.

A file is tried once: this replays a finding, and needs no fuzzer. Anything else is fuzzed by atheris.
"""

import importlib
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "support")]


def main(target: str, *rest: str) -> None:
    """Try the files, or fuzz."""
    name = f"fuzz.{target}"
    if rest and all(Path(word).is_file() for word in rest):
        module = importlib.import_module(name)
        for word in rest:
            module.try_one(Path(word).read_bytes())
        return
    atheris = importlib.import_module("atheris")

    with atheris.instrument_imports(include=["flowsweep"]):
        module = importlib.import_module(name)
    atheris.Setup([name, *rest], module.try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
