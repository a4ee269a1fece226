"""Pages of docs/reference are what the code says; pages written by hand leave nothing of it out."""

import re

import pytest

import write_reference
from flowsweep.cli import COMMANDS
from flowsweep.figures.drawing import KIND_TITLES
from invoked import invoke
from plan_support import ROOT

REMEDY = "run `python tools/write_reference.py` and commit what it writes"


@pytest.mark.parametrize("name", write_reference.PAGES)
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    committed = (write_reference.REFERENCE / name).read_text(encoding="utf-8")
    assert committed == write_reference.PAGES[name](), REMEDY


@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_shows_every_word_of_a_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`[alarms]` was swallowed as markup."""
    monkeypatch.setenv("COLUMNS", "2000")
    page = (write_reference.REFERENCE / "commands.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## `flowsweep {name}`\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| .* \| (.*) \|$", section, re.MULTILINE)
    texts = [*cells[1:], *re.findall(r"^[^ |\n].*$", section, re.MULTILINE)]
    assert len(texts) >= 3
    printed = " ".join(invoke(name, "--help").output.split()).replace("`", "")
    plain = [text.replace("`", "").replace(r"\|", "|") for text in texts]
    assert [text for text in plain if text not in printed] == []


def test_every_kind_of_figure_has_its_row() -> None:
    page = (ROOT / "docs" / "reference" / "figures.md").read_text(encoding="utf-8")
    first_cells = "".join(re.findall(r"^\|([^|]*)\|", page, re.MULTILINE))
    assert [kind for kind in KIND_TITLES if f"`{kind}`" not in first_cells] == []


def test_keys_are_told_with_their_types_and_tests() -> None:
    page = write_reference.plan_keys()
    assert (
        "| `flows` | whole number, 1 to 1024 or table, *axis* | `1` | tcp, udp, quic, mptcp, file |" in page
    )
    assert '| `duration` | duration or table, *axis* | `"10s"` | all |' in page
    assert "| `loss` | number, 0 to below 1 or percentage |" in page
    assert "| `at` | text or list |  | Run" in page, "a list of times does not multiply"
    assert "| `to` | text or list | required |" in page


def test_keys_of_a_sweep_are_in_the_order_in_which_they_are_written() -> None:
    section = write_reference.plan_keys().partition("## `[[sweep]]`")[2].partition("\n## ")[0]
    keys = re.findall(r"^\| `(\w+)`", section, re.MULTILINE)
    assert keys[:8] == ["name", "test", "paths", "directions", "duration", "omit", "interval", "flows"]
    assert keys[-5:] == ["every", "at", "between", "jitter", "slip"]


def test_a_column_is_looked_for_in_a_table_first() -> None:
    assert write_reference.definition_page("goodput_bps") == "explanation/statistics.md"
    assert write_reference.definition_page("jitter_ms") == "guide/udp.md"
    assert write_reference.definition_page("no_such_column") is None
