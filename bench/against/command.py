"""What benchmarks have in common as commands: their options, and what becomes of a result."""

import argparse
from typing import Protocol

from against.page import ROOT, write_into_page


class Result(Protocol):
    """A frozen model of all that was measured."""

    @property
    def met(self) -> bool:
        """Whether it is within its limits."""

    def model_dump_json(self, *, indent: int) -> str:
        """As pydantic writes it."""


def options(description: str | None) -> argparse.ArgumentParser:
    """Begin the options of a benchmark, which its docstring describes."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def options_with_rounds(description: str | None, rounds: int) -> argparse.ArgumentParser:
    """Begin those of a benchmark that repeats itself so often, and may keep nothing."""
    parser = options(description)
    parser.add_argument("--rounds", type=int, default=rounds, help="at least 3")
    parser.add_argument("--dry", action="store_true", help="writes nothing")
    return parser


def told(name: str, result: Result, text: str, *, dry: bool = False) -> int:
    """Print what was found and, unless `dry`, keep it as JSON and in the page; 1 if a limit was missed."""
    print(text)
    if not dry:
        file = ROOT / "bench" / "results" / f"{name.replace('_', '-')}.json"
        file.write_text(result.model_dump_json(indent=2) + "\n", encoding="utf-8")
        write_into_page(name, text)
    return int(not result.met)
