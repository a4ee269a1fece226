"""Fifty clients of iperf3 without a pace: who is uneven, the path or our server?"""

import itertools
from dataclasses import asdict
from statistics import median

from truth_support import NOTES, fill_table, table, write_result

from iperf3_shares import Setting, shares

CLIENTS, RATE_BPS, SECONDS = 50, 100_000_000, 10
FAIR = 0.1
PATHS = {False: "one queue for all, drop-tail", True: "a link and a queue for each"}
SERVERS = {True: "ours", False: "50 × `iperf3 -s`"}


def test_clients_share_as_evenly_as_their_path_lets_them() -> None:
    settings = [
        Setting(CLIENTS, RATE_BPS, congestion, own_links, own_server, SECONDS)
        for congestion, own_links, own_server in itertools.product(("cubic", "bbr"), PATHS, SERVERS)
    ]
    rates = {setting: shares(setting) for setting in settings}
    found = [asdict(setting) | {"rates_bps": told} for setting, told in rates.items()]
    write_result("iperf3-shares", "Fifty iperf3 clients without a pace", {"settings": found})
    rows = [
        (PATHS[setting.own_links], setting.congestion, SERVERS[setting.own_server], *told_of(told))
        for setting, told in rates.items()
    ]
    columns = ("path", "congestion", "server", "median, Mbit/s", "least", "most", "largest deviation")
    fill_table(NOTES / "iperf3-server.md", "shares", table(columns, rows))
    assert all(len(told) == CLIENTS for told in rates.values())
    uneven = {
        setting: deviation(told)
        for setting, told in rates.items()
        if setting.own_links and setting.own_server and deviation(told) > FAIR
    }
    assert uneven == {}


def deviation(rates: list[float]) -> float:
    """The largest, of the median."""
    middle = median(rates)
    return max(abs(rate / middle - 1) for rate in rates)


def told_of(rates: list[float]) -> tuple[str, str, str, str]:
    """Median, least and most in Mbit/s, and the largest deviation."""
    told = (f"{rate / 1e6:.2f}" for rate in (median(rates), min(rates), max(rates)))
    return (*told, f"{deviation(rates):.1%}")
