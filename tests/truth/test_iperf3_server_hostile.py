"""Ten honest iperf3 clients beside fifty hostile ones for 60 s, from 1 and from 20 addresses."""

from collections.abc import Callable
from dataclasses import asdict

from truth_support import NOTES, fill_table, table, write_result

from iperf3_hostile import HONEST_CLIENTS, RATE_MAX_BPS, UnderAttack, under_attack

ROUNDS, ROUND_S = 5, 12
SERVED_WITHIN_S, STOPPED_WITHIN_S = 10, 1
TOLERANCE = 0.05
Figures = dict[str, Callable[[UnderAttack], str]]


def test_honest_clients_are_served_whatever_hostile_ones_do() -> None:
    seen = {addresses: under_attack(addresses, ROUNDS, ROUND_S) for addresses in (1, 20)}
    result = {f"from_{addresses}_addresses": asdict(one) for addresses, one in seen.items()}
    write_result("iperf3-server-hostile", "Honest iperf3 clients beside hostile ones", result)
    columns = ("50 hostile clients for 60 s, from", "1 address", "20 addresses")
    fill_table(NOTES / "iperf3-server.md", "hostile", table(columns, rows_of([seen[1], seen[20]])))
    for one in seen.values():
        assert one.failed == []
        assert max(one.served_within_s) <= SERVED_WITHIN_S
        assert len(one.served_within_s) == ROUNDS * HONEST_CLIENTS
        assert one.highest_rate_bps <= RATE_MAX_BPS * (1 + TOLERANCE)
        assert one.stopped_within_s < STOPPED_WITHIN_S


def rows_of(seen: list[UnderAttack]) -> list[tuple[str, ...]]:
    """Rows of the table, a column for each."""
    count = ROUNDS * HONEST_CLIENTS
    what: Figures = {
        "honest tests of 1 s that were served": lambda one: f"{count - len(one.failed)} of {count}",
        "the slowest took": lambda one: f"{max(one.served_within_s):.1f} s",
        "hostile connections": lambda one: str(one.harm("connections")),
        "hostile tests that began": lambda one: str(one.harm("tests")),
        "highest rate of a test, of 5 Mbit/s": lambda one: f"{one.highest_rate_bps / 1e6:.2f} Mbit/s",
        "memory of the server": lambda one: f"{one.memory_bytes / 2**20:.0f} MiB",
        "SIGTERM during the attack ended it within": lambda one: f"{one.stopped_within_s:.2f} s",
    }
    return [(name, *(figure(one) for one in seen)) for name, figure in what.items()]
