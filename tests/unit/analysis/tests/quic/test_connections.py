"""What held sources of QUIC back, what their packets cost, and the verdict from it."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flowsweep.cli.summary_rows import row_of_outcomes
from quic_support import make_quic_outcome, make_quic_trial

WINDOWS: dict[str, int] = {"congestion_us": 100_000, "windows_us": 800_000, "application_us": 100_000}
CONGESTION: dict[str, int] = {"congestion_us": 900_000, "windows_us": 100_000}


def row_of(held: dict[str, int], **asked: Any) -> Any:
    """Of the summary, by the prepared statement, which a contract test compares with the analysis."""
    return row_of_outcomes([make_quic_outcome(make_quic_trial(**asked), **held)])


def test_shares_are_of_the_time_between_acknowledgements() -> None:
    row = row_of(WINDOWS | {"lost": 3})
    shares = [row[f"{name}_limited_share"] for name in ("congestion", "flow_control", "application")]
    assert shares == pytest.approx([0.1, 0.8, 0.1])
    assert (row["packets_lost"], row["rtt_min_ms"]) == (12, 19.997)
    assert row["quic_overhead_percent"] == pytest.approx(5)


@pytest.mark.parametrize(
    ("held", "asked", "verdict"),
    [
        (WINDOWS, {}, "receive window"),
        (WINDOWS, {"window_send_bytes": 1 << 16}, "send window"),
        (WINDOWS, {"window_send_bytes": 1 << 16, "window_recv_bytes": 1 << 15}, "receive window"),
        (WINDOWS, {"window_send_bytes": 2 << 20, "stream_window_bytes": 1 << 16}, "receive window"),
        (WINDOWS, {"streams_per_flow": 32}, "send window"),
        (CONGESTION, {}, "not clear"),
        ({"congestion_us": 500_000, "windows_us": 500_000}, {}, "not clear"),
        (CONGESTION, {"rate_bps": 8_000_000}, "application rate"),
    ],
)
def test_the_verdict(held: dict[str, int], asked: dict[str, int], verdict: str) -> None:
    assert row_of(held, **asked)["verdict"] == verdict


@pytest.mark.parametrize("asked", [{}, {"window_send_bytes": 1 << 16}, {"stream_window_bytes": 1 << 16}])
def test_whose_window_it_was_is_not_clear_of_a_server_that_tells_none(asked: dict[str, int]) -> None:
    outcome = make_quic_outcome(make_quic_trial(**asked), **WINDOWS)
    row = row_of_outcomes(
        [replace(outcome, record=outcome.record.model_copy(update={"far_side": "quic-perf"}))]
    )
    assert row["verdict"] == "not clear"


def test_sums_are_not_known_unless_every_flows_source_told_of_it() -> None:
    """Of two flows one has no rows, as of a host that died."""
    one = make_quic_outcome(make_quic_trial(flows=2), **WINDOWS, lost=3)
    told = one.of_tests["quic"]
    field = told.schema.field("flow")
    index = told.schema.get_field_index("flow")
    other = told.set_column(index, field, pc.add(told["flow"], pa.scalar(1, field.type)))
    both = replace(one, of_tests={"quic": pa.concat_tables([told, other])})
    assert row_of_outcomes([one])["packets_lost"] is None
    assert row_of_outcomes([both])["packets_lost"] == 24


def test_without_acknowledgements_nothing_is_said() -> None:
    assert row_of({})["verdict"] is None
