"""Writes `tests/fuzz/seeds` again, from what the code makes today."""

import importlib
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"


def main() -> None:
    """Write the seeds of all targets."""
    sys.path[:0] = [str(TESTS), str(TESTS / "support")]
    for target in importlib.import_module("fuzz.run").TARGETS:
        folder = TESTS / "fuzz" / "seeds" / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in importlib.import_module(f"fuzz.{target}").seeds():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
