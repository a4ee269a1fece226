"""What fuzzing begins with, and what it once found, is taken by its target."""

import importlib
from pathlib import Path

import pytest

from fuzz.run import TARGETS

SEEDS = Path(__file__).parents[1] / "fuzz" / "seeds"
FILES = sorted(path for path in SEEDS.glob("*/*"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_seed_is_taken(path: Path) -> None:
    importlib.import_module(f"fuzz.{path.parent.name}").try_one(path.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_more_than_refused(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each target has a seed that gets to its last line."""
    module = importlib.import_module(f"fuzz.{target}")
    reached = []
    last = {"journal": "read_archive", "campaign": "trials_table", "frames": "whole"}[target]
    real = getattr(module, last)
    monkeypatch.setattr(module, last, lambda *words, **named: reached.append(last) or real(*words, **named))
    for _, seed in module.seeds():
        module.try_one(seed)
    assert reached
