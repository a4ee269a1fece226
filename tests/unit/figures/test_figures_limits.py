"""Windows of both ends in the figure of what the flight filled: trials of unlike windows are no repeats."""

import pytest

from figures_support import figures, known, of_kind
from report_support import KIB, MIB, make_row, make_rows

ONE_WAY = (("starlight", "sara"),)


def of_ends(repeat: int, send: int, receive: int, **changes) -> dict:
    """A trial whose receive window is full for most of the time if it is small, and hardly ever if not."""
    nothing = dict.fromkeys(("window_bytes", "window_sum_bytes", "window_sum_asked_bytes"))
    ends = {"window_send_bytes": send, "window_recv_bytes": receive}
    full = 0.9 if receive == MIB else 0.1
    shares = {
        "limit_rwnd_share": full, "limit_cwnd_share": 1 - full, "limit_none_share": 0.0,
        "limit_send_buffer_share": 0.0, "sender_idle_share": 0.0,
    }  # fmt: skip
    row = make_row(repeat=repeat, trial_id=f"{repeat} {send} {receive} {changes}", **(nothing | ends))
    return known(row) | shares | changes


def told(one) -> list[str]:
    return [text for trace in one.figure.data if trace.name == "receive window" for text in trace.text]


def test_receive_windows_of_one_send_window_have_bars_of_their_own():
    rows = [of_ends(repeat, send, receive)
            for repeat in (1, 2) for send in (MIB, 2 * MIB) for receive in (MIB, 4 * MIB)]  # fmt: skip
    found = of_kind(figures(rows), "limits")
    assert [one.title.removeprefix("starlight → sara · ") for one in found] == [
        "receive window per flow 1 MiB", "receive window per flow 4 MiB",
    ]  # fmt: skip
    for one, full in zip(found, ("90.0", "10.0"), strict=True):
        assert [text.split("<br>")[0] for text in told(one)] == [f"<b>receive window: {full} %</b>"] * 2
        assert {text.split("<br>")[-1] for text in told(one)} == {"2 repeats"}
        assert len({row["window_recv_bytes"] for row in one.rows}) == 1
    assert len({one.file_name for one in found}) == 2


def test_windows_beside_ones_that_are_not_set_have_bars_of_their_own():
    """They make no axis, for what the kernel chooses has no place on it."""
    rows = [
        of_ends(repeat, size, size, window_bytes=size, flows=flows, window_sum_bytes=size and size * flows)
        for repeat in (1, 2) for flows in (1, 2) for size in (None, MIB)
    ]  # fmt: skip
    found = of_kind(figures(rows), "limits")
    assert [one.title.removeprefix("starlight → sara · ") for one in found] == [
        "window per flow not set", "window per flow 1 MiB",
    ]  # fmt: skip
    assert [row["repeats_ok"] for one in found for row in one.rows] == [2] * 4


@pytest.mark.parametrize("receive", [lambda send: 2 * send, lambda send: MIB])
def test_windows_that_the_bars_settle_are_named_once(receive):
    rows = [of_ends(repeat, send, receive(send)) for repeat in (1, 2) for send in (64 * KIB, MIB, 4 * MIB)]
    (one,) = of_kind(figures(rows), "limits")
    assert one.title == "starlight → sara"
    assert [row["repeats_ok"] for row in one.rows] == [2, 2, 2]


def test_sums_and_flows_settle_the_window_of_a_flow():
    rows = make_rows(flows=(1, 2, 4), window_sums=(MIB, 2 * MIB), directions=ONE_WAY, change=known)
    (one,) = of_kind(figures(rows), "limits")
    assert one.title == "starlight → sara"
    assert len(one.rows) == 6
