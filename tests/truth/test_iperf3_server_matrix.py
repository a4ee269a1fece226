"""Every kind of test of iperf3 clients against the engine's server; fifty at once; beside hostile ones."""

from collections import Counter
from dataclasses import asdict
from statistics import median

from truth_support import NOTES, fill_table, table, write_result

from iperf3_guests import beside_hostile, matrix, programs, rates_at_once, run_matrix, version_of

CLIENTS, RATE_BPS, CONNECTIONS = 50, 1_000_000, 1000


def test_every_client_agrees_and_nobody_disturbs() -> None:
    cases = matrix()
    outcomes = {str(case): why for case, why in run_matrix(cases, at_once=4).items()}
    wrong = {name: why for name, why in outcomes.items() if why}
    rates = rates_at_once(CLIENTS, RATE_BPS)
    hostile = beside_hostile(CONNECTIONS, rounds=5)
    off = largest_deviation(rates)
    moved = hostile.beside_bps / hostile.elsewhere_bps - 1
    result = {
        "clients": [version_of(program) for program in programs()],
        "cases": len(cases),
        "wrong": wrong,
        "fifty_paced_bps": rates,
        "hostile": asdict(hostile),
    }
    write_result("iperf3-server", "Real iperf3 clients against flowsweep-engine iperf3-server", result)
    good = Counter(name.split(" IPv")[0] for name, why in outcomes.items() if why is None)
    all_of = Counter(str(case).split(" IPv")[0] for case in cases)
    rows = [(name, f"{good[name]} of {count}") for name, count in all_of.items()]
    page = NOTES / "iperf3-server.md"
    fill_table(page, "matrix", table(("client, protocol, direction, flows", "agree to the byte"), rows))
    figures = [
        ("50 clients of 1 Mbit/s each: largest deviation from the median", f"{off:.1%}"),
        (
            "change of a test's rate while 1 000 hostile connections go to its server and not to another",
            f"{moved:+.2%}",
        ),
        ("memory grew by", f"{hostile.memory_grew_bytes / 2**20:.1f} MiB"),
        ("threads and files left", f"{hostile.left[0]} and {hostile.left[1]}"),
    ]
    fill_table(page, "figures", table(("what", "figure"), figures))
    assert wrong == {}
    assert off <= 0.1
    assert hostile.connected >= 0.99 * CONNECTIONS
    assert abs(moved) < 0.05
    assert hostile.memory_grew_bytes < 16 << 20
    assert hostile.left == (0, 0)


def largest_deviation(rates: list[float]) -> float:
    middle = median(rates)
    return max(abs(rate / middle - 1) for rate in rates)
