"""Writes `seeds/` again, from what the code makes today."""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from fuzz.run import TARGETS  # noqa: E402 - found by the line above

for target in TARGETS:
    folder = HERE / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in importlib.import_module(f"fuzz.{target}").seeds():
        (folder / name).write_bytes(content)
