"""Parts of the report that need no page: findings, cards, small pictures, data of a trial."""

import base64
import csv
import gzip
import io
import json
from dataclasses import replace
from typing import get_args
from urllib.parse import unquote

import ibis
import pyarrow as pa
import pytest

from flowsweep.analysis import core_loads
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.verdicts import VERDICTS, Verdict
from flowsweep.csv_text import csv_link
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import FigureData
from flowsweep.report.findings_list import MOST_AT_ONCE, findings_list
from flowsweep.report.gallery import card_anchor, cards_of, galleries
from flowsweep.report.trial_details import TrialDetails
from flowsweep.report.trial_page import trial_pages
from flowsweep.report.trial_table import trial_lines
from report_support import (
    LENGTHS,
    MIB,
    failed,
    make_cells,
    make_finding,
    make_row,
    make_rows,
    make_series,
    seed_000,
)


def no_figure(key: FigureKey | None) -> None:
    return None


def cards(rows):
    return cards_of(drawn_figures(FigureData(rows, make_cells(rows))))


def unpacked(packed: str) -> dict:
    found: dict = json.loads(gzip.decompress(base64.b64decode(packed)))
    return found


def test_a_cell_without_a_text_sorts_as_one_without_a_value():
    columns, lines = trial_lines([make_row(), make_row(test="rtt", repeat=2)])
    place = [column.title for column in columns].index("Flows")
    assert [(line.cells[place].text, line.cells[place].sort) for line in lines] == [("1", 1), ("", "")]


def test_conclusions_come_in_their_order_and_open_questions_apart():
    decisions = ["effect", "undecided", *["no practical effect"] * MOST_AT_ONCE, "described"]
    found = findings_list(
        [make_finding(decision=one, claim=str(n)) for n, one in enumerate(decisions)], no_figure
    )
    assert [line.claim for line in found.shown] == ["0", *map(str, range(2, MOST_AT_ONCE + 1))]
    assert [line.claim for line in found.folded] == [str(MOST_AT_ONCE + 1), str(MOST_AT_ONCE + 2)]
    assert [line.claim for line in found.undecided] == ["1"]
    assert found.count == len(decisions)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (("%", 0.4, -0.3, 1.1), "0.400 %, 95 % interval from −0.300 % to 1.10 %"),
        (("bytes", 2 * MIB, MIB, None), "2 MiB, 95 % interval from 1 MiB on"),
        (("s", 1.5, None, 2.0), "1.50 s, 95 % interval up to 2 s"),
        (("bit/s", 9.4e7, None, None), "94.0 Mbit/s"),
    ],
)
def test_an_estimate_has_its_unit_and_its_interval(numbers, said):
    names = ("effect_unit", "effect", "interval_low", "interval_high")
    found = findings_list([make_finding(**dict(zip(names, numbers, strict=True)))], no_figure)
    assert dict(found.shown[0].facts)["Estimate"] == said


def test_levels_that_were_tested_are_no_interval_of_an_estimate():
    figure = FigureKey("product", "s", "copy")
    sizes = {"effect_unit": "bytes", "effect": 1.5 * MIB, "interval_low": MIB, "interval_high": 2 * MIB}
    (line,) = findings_list([make_finding(kind="plateau", figure=figure, **sizes)], no_figure).shown
    said = dict(line.facts)["Estimate"]
    assert said == "bounds by tested levels, 95 % together, from 1 MiB to 2 MiB", "a guess between them"
    close = sizes | {"effect": 1.25 * MIB, "interval_high": 1.5 * MIB}
    (line,) = findings_list([make_finding(kind="plateau", figure=figure, **close)], no_figure).shown
    said = dict(line.facts)["Estimate"]
    assert said == "1280 KiB, bounds by tested levels, 95 % together, from 1 MiB to 1536 KiB"
    searched = make_finding(kind="plateau", figure=replace(figure, kind="search"), **sizes)
    (line,) = findings_list([searched], no_figure).shown
    assert "95 % interval from 1 MiB to 2 MiB" in dict(line.facts)["Estimate"]
    sizes |= {"interval_low": MIB + 1, "interval_high": None}
    (line,) = findings_list([make_finding(kind="plateau", figure=figure, **sizes)], no_figure).shown
    said = dict(line.facts)["Estimate"]
    assert said == "bounds by tested levels, 95 % together, from above 1 MiB on"


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"kind": "rate"}, "bracket of tried rates"),
        ({"kind": "loss"}, "bracket of offered rates"),
        ({"kind": "available"}, "bracket by trends of delays"),
        ({"kind": "path", "n": 2, "figure": "hop_capacity"}, "lowest and highest end of the trials' own"),
        ({"kind": "path", "n": 3, "figure": "hop_capacity"}, "95 % interval"),
        ({"kind": "plateau", "figure": "search"}, "90 % interval"),
        ({"kind": "best", "figure": "best"}, "90 % interval"),
        ({"kind": "plateau", "figure": "search", "evidence": ("older",)}, "95 % interval"),
        ({"kind": "effect"}, "95 % interval"),
    ],
)
def test_only_what_is_an_interval_with_some_confidence_is_called_one(about, said):
    kind = about.get("figure")
    about = about | {"figure": kind and FigureKey(kind, "s", None), "evidence": about.get("evidence", ("a",))}
    ends = {"effect_unit": "bit/s", "effect": 2e7, "interval_low": 2e7, "interval_high": 3e7}
    rows = [make_row(trial_id="a", search_confidence=0.9), make_row(trial_id="older")]
    (line,) = findings_list([make_finding(**(ends | about))], no_figure, rows).shown
    assert dict(line.facts)["Estimate"] == f"20.0 Mbit/s, {said} from 20.0 Mbit/s to 30.0 Mbit/s"


def test_a_guess_that_nothing_bounds_is_not_printed_beside_the_level_that_the_sentence_names():
    guess = {"effect_unit": "bytes", "effect": 48_200.0, "interval_low": None, "interval_high": None}
    plateau = {"kind": "plateau", "figure": FigureKey("product", "s", "copy")} | guess
    (line,) = findings_list([make_finding(decision="undecided", **plateau)], no_figure).undecided
    assert "Estimate" not in dict(line.facts)
    (line,) = findings_list([make_finding(decision="effect", **plateau)], no_figure).shown
    assert dict(line.facts)["Estimate"] == "48.2 KB"


@pytest.mark.parametrize("unit", ["%", "bytes", "flows", "s", "s/GB", "bit/s", "ns/byte"])
def test_an_estimate_of_any_unit_is_written_with_it(unit):
    lone = {"effect": 3.0, "effect_unit": unit, "interval_low": None, "interval_high": None}
    (line,) = findings_list([make_finding(**lone)], no_figure).shown
    said = dict(line.facts)["Estimate"]
    assert said.endswith({"bytes": " B"}.get(unit, f" {unit}"))


def test_that_an_effect_is_small_has_no_p_value():
    """It would be that of no effect at all."""
    names = {"p_value": 0.03, "p_adjusted": 0.4}
    (line,) = findings_list([make_finding(decision="no practical effect", **names)], no_figure).shown
    assert [name for name, _ in line.facts if name.startswith("p")] == []
    (line,) = findings_list([make_finding(decision="effect", **names)], no_figure).shown
    assert [text for name, text in line.facts if name.startswith("p")] == [
        "p = 0.0300 with all that it was chosen from; p = 0.400 over all hypotheses (Holm)"
    ]


def test_a_sentence_stays_text_but_for_its_commands_and_keeps_numbers_with_their_units():
    found = findings_list([make_finding(claim="<b> gets 20.0 Mbit/s: `sysctl -w a=1` there")], no_figure)
    assert found.shown[0].claim == "&lt;b&gt; gets 20.0\u00a0Mbit/s: <code>sysctl -w a=1</code> there"


def test_a_probability_is_told_with_its_correction_and_left_out_where_nothing_was_tested():
    tested, described = findings_list(
        [make_finding(p_value=0.012, p_adjusted=0.048), make_finding(decision="described", p_value=None)],
        no_figure,
    ).shown
    name = "p: probability of data at least this extreme, were there no effect"
    assert dict(tested.facts)[name] == (
        "p = 0.0120 with all that it was chosen from; p = 0.0480 over all hypotheses (Holm)"
    )
    assert name not in dict(described.facts)
    (plateau,) = findings_list([make_finding(kind="plateau", p_value=0.012)], no_figure).shown
    assert (
        "p: probability of data at least this extreme, did goodput not rise above the lowest level"
        in dict(plateau.facts)
    )


def test_a_method_is_said_once_and_open_questions_come_after_the_conclusions():
    decisions = ["effect", "undecided", "effect", "described"]
    methods = ["t; n = 3", "Hsu", "t; n = 4", "t; n = 3"]
    found = findings_list(
        [make_finding(decision=one, method=how) for one, how in zip(decisions, methods, strict=True)],
        no_figure,
    )
    assert [line.method for line in (*found.shown, *found.undecided)] == [1, 2, 1, 3]
    assert found.methods == ("t; n = 3", "as 1, but n = 4", "Hsu")


def test_sweep_and_mode_are_said_where_there_are_several():
    several = [make_finding(), make_finding(sweep="lengths", mode="zerocopy")]
    assert [line.where for line in findings_list(several, no_figure).shown] == [
        "sweep windows · copy",
        "sweep lengths · zerocopy: the source's memory plays no part",
    ]
    assert findings_list([make_finding()], no_figure).shown[0].where == ""


def test_a_surface_and_its_map_share_a_card_and_a_finding_leads_there():
    found = cards(make_rows(repeats=1))
    pair = next(card for card in found if len(card.drawings) == 2)
    assert [drawing.kind for drawing in pair.drawings] == ["surface", "flat"]
    assert [drawing.formats for drawing in pair.drawings] == [("PNG",), ("SVG", "PNG")]
    key = FigureKey("plane", "windows", "copy", "sara → starlight")
    anchor = card_anchor(key, found)
    assert next(card.title for card in found if card.anchor == anchor) == "sara → starlight"
    assert card_anchor(replace(key, sweep="other"), found) is None
    assert len({card.anchor for card in found}) == len(found)


def test_small_pictures_have_the_colours_of_one_scale_and_holes_where_nothing_is():
    rows = make_rows(lengths=LENGTHS[2:5], repeats=1, change=seed_000)
    groups = [group for gallery in galleries(cards(rows)) for group in gallery.groups]
    [overview] = next(group.overviews for group in groups if group.overviews)
    assert [name for name, _ in overview.groups] == ["length 6 KB", "length 8 KB", "length 10 KB"]
    whole, holed = overview.groups[0][1][0], overview.groups[1][1][0]
    assert (whole.columns, whole.lines, len(whole.tiles), len(holed.tiles)) == (6, 5, 30, 29)
    assert (5, 0) not in [(tile.column, tile.line) for tile in holed.tiles], "16 flows, 32 MiB failed"
    slow, fast = whole.tiles[0], max(whole.tiles, key=lambda tile: tile.column)
    assert slow.colour != fast.colour
    # 9.65 Gbit/s is the highest single trial of the three lengths.
    highest = max(row["goodput_bps"] for row in rows if row["goodput_bps"])
    assert overview.top == f"{highest / 1e9:.3g} Gbit/s"


def test_a_scale_of_colours_is_told_as_the_goodputs_of_its_tiles_are():
    rows = make_rows(lengths=LENGTHS[2:4], repeats=1)
    part = 999.6e6 / max(row["goodput_bps"] for row in rows)
    rows = [row | {"goodput_bps": row["goodput_bps"] * part} for row in rows]
    groups = [group for gallery in galleries(cards(rows)) for group in gallery.groups]
    [overview] = next(group.overviews for group in groups if group.overviews)
    told = [one.highest for _, panels in overview.groups for one in panels]
    assert overview.top == "1.00 Gbit/s"
    assert "1.00 Gbit/s" in told


def test_a_table_in_a_link_is_the_table():
    rows = [{"name": 'a → b, 100 %; "x" #1\n&<', "value_bps": 1.5, "flag": True}]
    text = unquote(csv_link(rows).removeprefix("data:text/csv;charset=utf-8,"))
    [read] = csv.DictReader(io.StringIO(text))
    assert read == {"name": rows[0]["name"], "value_bps": "1.5", "flag": "true"}
    raw = csv_link(rows).removeprefix("data:text/csv;charset=utf-8,")
    assert not set('#"<& \n') & set(raw)


def test_the_data_of_a_trial_tell_its_repeats_flows_and_counters():
    rows = [make_row(repeat=1), failed(make_row(repeat=2, started_at="2026-03-01T12:05:00Z"))]
    first, second = (row["trial_id"] for row in rows)
    end = {
        "flow": 0, "bytes": 2_000_000, "end": "drained", "error": None, "cpu_user_us": 1, "cpu_system_us": 4,
        "cpu_elapsed_us": 10,
    }  # fmt: skip
    broken = {"end": "broken", "error": "reset"}
    flows = [
        end | {"role": "source", "host": "starlight", "peer": "sara"},
        end | {"role": "sink", "host": "sara", "peer": "starlight"} | broken,
    ]
    details = TrialDetails(flows={first: flows})
    pages = {
        trial_id: unpacked(packed) for trial_id, packed in trial_pages(rows, details, {first: make_series()})
    }
    assert list(pages) == [first, second]
    assert pages[first]["repeats"] == [[second, "repeat 2", "failed, no goodput"]]
    assert pages[first]["further_repeats"] == 0
    assert pages[first]["lede"] == (
        "Repeat 1 of sweep windows, 1 min long: 990 Mbit/s over the whole trial, 1.00 Gbit/s in the median "
        "interval."
    )
    assert pages[first]["tables"][0]["rows"] == [
        ["0", "starlight", "sara", "2 MB", "2 MB", "50.0 %", "50.0 %", "drained; broken: reset"]
    ]
    assert pages[first]["series"] == make_series()
    assert (pages[second]["series"], pages[second]["tables"]) == (None, [])


def test_a_trial_among_hundreds_names_the_repeats_next_to_it():
    """Each named all others, which was two thirds of a report of 672 hourly trials each way."""
    hours = [f"2026-03-{day:02}T{hour:02}:00:00Z" for day in range(1, 5) for hour in range(24)]
    rows = [make_row(repeat=at, started_at=hour) for at, hour in enumerate(hours, start=1)]
    pages = [unpacked(packed) for _, packed in trial_pages(rows, TrialDetails(), {})]
    named = [[int(name.removeprefix("repeat ")) for _, name, _ in page["repeats"]] for page in pages]
    assert named[0] == list(range(2, 22))
    assert named[49] == [*range(40, 50), *range(51, 61)]
    assert named[95] == list(range(76, 96))
    assert {page["further_repeats"] for page in pages} == {96 - 1 - 20}


def test_a_window_that_limits_comes_with_what_to_set():
    limited = make_row(verdict="receive window", rtt_min_ms=10.0, link_payload_bps=1e9, goodput_bps=6e8)
    [(_, packed)] = trial_pages([limited], TrialDetails(), {})
    # 1 Gbit/s × 10 ms = 1.25 MB; in whole 64 KiB: 20 × 65 536.
    explained = unpacked(packed)["explained"]
    assert "net.core.rmem_max there, which was not recorded, has to be 1310720 or more" in explained
    [(_, packed)] = trial_pages([limited | {"verdict": "not clear"}], TrialDetails(), {})
    assert unpacked(packed)["explained"] == "No cause accounts for enough of the trial to be named."
    [(_, packed)] = trial_pages([limited | {"verdict": None}], TrialDetails(), {})
    assert unpacked(packed)["explained"] is None


def test_every_verdict_has_a_meaning():
    assert tuple(VERDICTS) == get_args(Verdict)
    assert all(words.meaning for words in VERDICTS.values())


def test_the_page_of_a_trial_of_datagrams_says_nothing_of_acknowledgements():
    [(_, packed)] = trial_pages([make_row(test="udp", verdict="send window")], TrialDetails(), {})
    assert unpacked(packed)["explained"] == (
        "The source's socket buffer was full of datagrams that its device had not sent."
    )


def test_the_page_of_a_trial_names_what_ran_beside_it():
    row = make_row(verdict="congestion window: queue", background=["probe", "cubic"], share=0.25)
    [(_, packed)] = trial_pages([row], TrialDetails(), {})
    assert unpacked(packed)["explained"] == (
        f"{VERDICTS['congestion window: queue'].meaning} "
        "It ran beside cubic, to which 75.0 % of the goodput of all traffic goes."
    )


def test_load_of_a_core_is_its_time_over_the_time_that_was_watched():
    core = {
        "trial_id": "t",
        "role": "sink",
        "host": "b",
        "kind": "core",
        "id": 1,
        "irq_us": 0,
        "steal_us": None,
    }
    times = ("start_ns", "end_ns", "user_us", "system_us", "softirq_us", "busy_us")
    rows = [
        core | dict(zip(times, (0, 100_000_000, 20_000, 20_000, 10_000, 50_000), strict=True)),
        core | dict(zip(times, (100_000_000, 400_000_000, 0, 30_000, 0, 30_000), strict=True)),
        core | {"kind": "thread"} | dict(zip(times, (0, 1, 9, 9, None, 18), strict=True)),
    ]
    kinds = {"steal_us": pa.int64()}
    table = pa.Table.from_pylist(rows)
    schema = pa.schema([pa.field(one.name, kinds.get(one.name, one.type)) for one in table.schema])
    [found] = core_loads(ibis.memtable(table.cast(schema))).to_pyarrow().to_pylist()
    # 80 ms of 400 ms; 20, 50 and 10 of them.
    assert found == {
        "trial_id": "t", "role": "sink", "host": "b", "core": 1, "busy_share": 0.2, "user_share": 0.05,
        "system_share": 0.125, "softirq_share": 0.025, "irq_share": 0.0, "steal_share": None,
    }  # fmt: skip
