"""Colours of curves."""

import re
from importlib.resources import files

import pytest

from flowsweep.figures.theme import CATEGORIES, series_colours

PAGES = {"white": (253, 252, 250), "dark": (27, 31, 36)}


def luminance(colour: tuple[int, ...]) -> float:
    """As WCAG 2.2 has it."""
    parts = [part / 255 for part in colour]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def many(count: int) -> list[tuple[int, ...]]:
    return [tuple(map(int, re.findall(r"\d+", colour))) for colour in series_colours(count)]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("count", [len(CATEGORIES) + 1, 16, 40])
def test_many_curves_are_seen_on_every_page(count: int, page: str) -> None:
    found = many(count)
    assert len(set(found)) == count
    assert min(contrast(colour, PAGES[page]) for colour in found) > 2


def test_flows_of_a_trial_have_the_same_colours() -> None:
    script = files("flowsweep.report").joinpath("scripts/trial_figures.js").read_text()
    (listed,) = re.findall(r"MANY_FLOW_COLOURS = \[(.*?)\]", script, re.DOTALL)
    assert re.findall(r"#\w{6}", listed) == ["#{:02x}{:02x}{:02x}".format(*colour) for colour in many(16)]
