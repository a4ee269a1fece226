"""An option that a command does not have, but a plan has as a key, or a word that no option has."""

from collections.abc import Sequence
from shlex import quote

from flowsweep.plan.readers import did_you_mean, listed, shown
from flowsweep.plan.searching.keys import FindKeys
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.plan.times.keys import TimesKeys

_OF_A_PLAN = ("check", "predict", "run")
_OF_A_PATH = ("--rate", "--rtt", "--queue", "--loss")
"""What `predict` takes of a path."""
_NO_SINGLE_VALUES = {"paths", "background"}
_OF_SEVERAL_TRIALS = (
    {"test", "name", "pairs", "directions", "exclusive", "delay_max", "rate_search"}
    | TimesKeys.model_fields.keys()
    | FindKeys.model_fields.keys()
)
"""What a command of one trial refuses, or makes nothing of."""


def how_to_set(option: str, command: str, words: Sequence[str]) -> str | None:
    """Say how the key that an option names is set; None if there is none, or the command sets no keys.

    What `check --predict` would be told of a path, `predict` takes.

    Args:
        option: As it was written, `--rate`.
        command: Its name.
        words: The command line, where the value stands behind the option.
    """
    if command == "check" and "--predict" in words and option in _OF_A_PATH:
        return f"`predict` takes it: `flowsweep predict PLAN {option} {quote(_value_of(option, words))}`"
    if command in PLAN_TESTS:
        test = PLAN_TESTS[command]
        # Of tests that probe, `every` is the pause between probes.
        keys = test.keys - _OF_SEVERAL_TRIALS | ({"every"} if test.probes_every_min_ns is not None else set())
    elif command in _OF_A_PLAN:
        keys = frozenset(SweepTable.model_fields)
    else:
        return None
    key = option.removeprefix("--").replace("-", "_")
    if key not in keys - _NO_SINGLE_VALUES:
        return None
    setting = quote(f"sweep.{key}={_value_of(option, words)}")
    return f"`{key}` is a key of a sweep: `--set {setting}`"


def _value_of(option: str, words: Sequence[str]) -> str:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, joined, value = word.partition("=")
        if name == option and (joined or not following.startswith("-")):
            return (value if joined else following) or "VALUE"
    return "VALUE"


def unknown_word(found: str, words: Sequence[str]) -> str:
    """Say that a value is none of an option's words."""
    return f"found {shown(found)}, expected {listed(words)}{did_you_mean(found, words)}"
