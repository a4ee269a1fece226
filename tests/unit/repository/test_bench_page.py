"""The page of benchmarks shows what was measured, and nothing else."""

import pytest

from against.compare import comparisons
from against.machine import Machine
from against.model import Cell, ManyFlows, PeersResult, SamplingResult, Settings
from against.page import PAGE, PEERS_RESULT, SAMPLING_RESULT, peers_part, sampling_part, with_part
from bench_support import measured

PART = "<!-- peers: begin, written by bench/peers.py -->\n\nold\n\n<!-- peers: end -->"


def test_a_part_of_the_page_is_replaced_and_the_rest_stays() -> None:
    page = with_part(f"before\n\n{PART}\n\nafter\n", "peers", "new\n")
    assert page == f"before\n\n{PART.replace('old', 'new')}\n\nafter\n"


def test_a_page_without_the_part_is_refused() -> None:
    with pytest.raises(ValueError, match="has no part"):
        with_part(PART.replace("end", "and"), "peers", "new")


def test_the_page_shows_the_committed_comparison_with_peers() -> None:
    page, part = PAGE.read_text(encoding="utf-8"), ""
    if PEERS_RESULT.exists():
        part = peers_part(PeersResult.model_validate_json(PEERS_RESULT.read_text(encoding="utf-8")))
    assert with_part(page, "peers", part) == page


def test_the_page_shows_the_committed_cost_of_sampling() -> None:
    page, part = PAGE.read_text(encoding="utf-8"), ""
    if SAMPLING_RESULT.exists():
        part = sampling_part(SamplingResult.model_validate_json(SAMPLING_RESULT.read_text(encoding="utf-8")))
    assert with_part(page, "sampling_cost", part) == page


def test_a_comparison_is_shown_with_its_interval_and_bold_where_the_target_is_met() -> None:
    everybody = (
        measured("flowsweep copy", "copy", [120e9, 121e9, 119e9], [0.1, 0.1, 0.1], ours=True),
        measured("peer", "copy", [100e9, 100e9, 100e9], [0.1, 0.1, 0.1]),
    )
    text = peers_part(
        result(Cell(path="veth", flows=4, measured=everybody, comparisons=comparisons(everybody)))
    )
    goodput, cpu = (
        "120.0 | peer | 100.0 | **1.20** (1.18 to 1.23)",
        "0.100 | peer | 0.100 | 1.00 (1.00 to 1.00)",
    )
    row = f"| veth | 4 | {goodput} | {cpu} |"
    assert row in text.splitlines()
    assert "1 of 2 targets are met" in text
    assert "| flowsweep copy | 120.0 / 0.100 (119.0 to 121.0, 256K) |" in text.splitlines()


def test_who_was_not_run_further_is_shown_as_such() -> None:
    behind = measured("behind", "copy", [50e9], [0.3]).model_copy(update={"runs": (), "in_rounds": False})
    failed = behind.model_copy(update={"name": "failed", "scan": ()})
    text = peers_part(result(Cell(path="veth", flows=1, measured=(behind, failed), comparisons=())))
    assert "| behind | *50.0 / 0.300* |" in text.splitlines()
    assert "| failed | failed |" in text.splitlines()


def test_many_flows_that_failed_are_told() -> None:
    assert "`copy` no route, `discard` 3.0 Gbit/s." in peers_part(result())


def result(*cells: Cell) -> PeersResult:
    return PeersResult(
        machine=Machine(
            date="2026-11-21",
            commit="0123abc",
            engine="0123456789abcdef",
            kernel="6.18",
            cpu="a CPU",
            cpus=2,
            memory_gib=24,
            load_average_1min=0.0,
            sysctls={},
        ),
        settings=Settings(
            congestion="cubic",
            rounds=3,
            window_s=3,
            warm_up_s=1,
            lengths_bytes=(262_144,),
            sample_interval_s=0.1,
            seed=1,
        ),
        seconds=60,
        cells=cells,
        many_flows=(
            ManyFlows(mode="copy", flows=128, goodput_bps=None, failure="no route"),
            ManyFlows(mode="discard", flows=128, goodput_bps=3e9, failure=None),
        ),
    )
