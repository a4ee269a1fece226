"""What `flowsweep udp` says at its end: where datagrams were lost, and what limited the trial."""

import pytest

from flowsweep.cli.summary_rows import ONE_TRIAL_COLUMNS
from flowsweep.cli.udp_summary import print_summary

UDP_ROW = dict.fromkeys(ONE_TRIAL_COLUMNS["udp"]) | {
    "test": "udp", "status": "ok", "goodput_bps": 1e6, "goodput_p10_bps": 1e6, "goodput_p90_bps": 1e6,
    "failure_kind": None, "loss": 0.0, "lost": 0, "datagrams_sent": 100, "host_dropped_packets": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"verdict": "host drops", "loss": 0.1, "loss_at_hosts": 0.1}, "host drops: hosts dropped most of"),
        (
            {"verdict": "host drops", "loss": 0.1, "loss_at_hosts": 0.01},
            "host drops: hosts dropped most of what was missing. The kernel may count one",
        ),
        (
            {"verdict": "send window"},
            "send window: the source's socket buffer was full of datagrams that its device had not sent",
        ),
        ({"verdict": "path loss"}, "path loss: the path lost what was missing"),
        ({"verdict": "not clear", "loss": 0.1}, "not known: how many of the lost datagrams hosts dropped"),
        ({"verdict": "not clear"}, "not known: no rate was asked for, and neither losses nor"),
        ({"verdict": "not clear", "rate_sum_bps": 10}, "not known: the rate that was asked for did not come"),
        ({"verdict": None, "loss": None}, "not known: how many datagrams were lost is not known"),
    ],
)
def test_udp_ends_with_what_limited_it(
    changes: dict[str, object], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_summary(UDP_ROW | changes)
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"limited by            {expected}")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"host_dropped_packets": 0}, "at least 3.00 % of all that were sent"),
        (
            {"host_dropped_packets": 9},
            "up to 3.00 % of all that were sent (counters of the hosts, of all traffic)",
        ),
        (
            {"host_dropped_packets": 9, "gso_granted": True},
            "3.00 % of all that were sent (counters of the hosts, of all traffic)",
        ),
    ],
)
def test_udp_says_whether_hosts_dropped_more_or_fewer(
    changes: dict[str, object], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_summary(UDP_ROW | {"verdict": "host drops", "loss": 0.03, "loss_at_hosts": 0.03} | changes)
    assert f"lost at hosts         {expected}" in capsys.readouterr().out.splitlines()
