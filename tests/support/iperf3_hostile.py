"""Honest iperf3 clients beside hostile ones of the engine's server, over a round trip of 100 ms."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flowsweep.lab import Lab
from iperf3_guests import CLIENTS, SERVER, Case, Json, Server, ask, build_pair, serving
from waiting import LOOKS_EVERY_S

ATTACK = Path(__file__).with_name("iperf3_attack.py")
HOSTILE_CLIENTS, HONEST_CLIENTS = 50, 10
RATE_MAX_BPS = 5_000_000
"""Of the server, for each test."""
LINK_BPS = 200_000_000
DELAY_NS = 50_000_000
SETTLE_S, BEYOND_S = 2, 3
LONG_ENOUGH_S = 3
END_TIMEOUT_S = 30
NETWORK = "198.19.250."
HOSTILE_FIRST, HONEST_FIRST = 1, 101


@dataclass(frozen=True)
class UnderAttack:
    """What honest clients saw, and what became of the server."""

    served_within_s: list[float]
    """Of each honest client, from its start to its end; its test takes 1 s of that."""
    failed: list[str]
    hostile: Json
    """Of each kind of harm, connections that stood and tests that began."""
    highest_rate_bps: float
    """Of all hostile tests that lasted at least 3 s, as the server counted."""
    stopped_within_s: float
    starved_s: float
    """Of that, how long at most one of its threads was ready to run and had no CPU."""
    memory_bytes: int
    """Most that the server had resident."""

    def harm(self, what: str) -> int:
        """Add up the `connections` or the `tests` of all kinds of harm."""
        return sum(kind[what] for kind in self.hostile.values())


def under_attack(addresses: int, rounds: int, round_s: float) -> UnderAttack:
    """Have honest clients test in rounds while hostile ones from some addresses do harm; then end the server.

    `round_s`: from one round to the next. The harm goes on until the server has ended.
    """
    hostile = [f"{NETWORK}{HOSTILE_FIRST + number}" for number in range(addresses)]
    honest = [f"{NETWORK}{HONEST_FIRST + number}" for number in range(HONEST_CLIENTS)]
    with build_pair(rate_bps=LINK_BPS, delay_ns=DELAY_NS) as lab:
        add_addresses(lab, [*hostile, *honest])
        with serving(lab, f"--rate-max={RATE_MAX_BPS}") as server:
            with attacking(server, hostile, SETTLE_S + round_s * rounds) as attack:
                time.sleep(SETTLE_S)
                seen: list[tuple[float, str | None]] = []
                most = 0
                for number in range(rounds):
                    begin = time.monotonic()
                    seen += served_at_once(server, honest, number)
                    most = max(most, server.resident_bytes())
                    time.sleep(max(0, begin + round_s - time.monotonic()))
                stopped, starved = end(server)
                told: Json = json.loads(attack.communicate(timeout=60)[0])
            return UnderAttack(
                [took for took, _ in seen],
                [wrong for _, wrong in seen if wrong],
                told,
                highest_rate_bps(server),
                stopped,
                starved,
                most,
            )


def end(server: Server) -> tuple[float, float]:
    """End the server; how long that took, and how long of it a thread had to wait for a CPU, both in s."""
    before = server.cpu_waits_s()
    last = before
    begin = time.monotonic()
    server.process.terminate()
    while server.process.poll() is None and time.monotonic() < begin + END_TIMEOUT_S:
        last = last | server.cpu_waits_s()
        time.sleep(LOOKS_EVERY_S)
    took_s = time.monotonic() - begin
    assert server.process.wait(timeout=0) == 0
    return took_s, max(waited - before.get(thread, 0) for thread, waited in last.items())


def add_addresses(lab: Lab, addresses: Sequence[str]) -> None:
    """Give the clients' host more addresses, and the server's a way to them."""
    own = _device(lab, CLIENTS)
    for address in addresses:
        _ip(lab, CLIENTS, "addr", "add", f"{address}/32", "dev", own)
    _ip(lab, SERVER, "route", "add", f"{NETWORK}0/24", "dev", _device(lab, SERVER))


@contextmanager
def attacking(server: Server, addresses: Sequence[str], seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Have hostile clients do harm from some addresses, a while beyond `seconds`."""
    words = [*server.lab.access[CLIENTS].launch, sys.executable, str(ATTACK), _address(server.lab)]
    words += [str(server.port), str(seconds + BEYOND_S), str(HOSTILE_CLIENTS), *addresses]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def served_at_once(server: Server, addresses: Sequence[str], number: int) -> list[tuple[float, str | None]]:
    """Have a client test from each address, every other in reverse: how long it took, and what went wrong."""

    def run(index: int) -> tuple[float, str | None]:
        case = Case(direction=("normal", "reverse")[index % 2], options=("-B", addresses[index]))
        begin = time.monotonic()
        report = ask(server, case, f"honest {number} {index}", ["-t", "1", "-b", "1M", "-l", "10000"])
        took = time.monotonic() - begin
        if report.get("error") or report["returned"] != 0:
            return took, f"{report.get('error')} {report['stderr']}"
        return took, None if report["end"]["sum_received"]["bytes"] > 0 else "nothing was carried"

    with ThreadPoolExecutor(len(addresses)) as pool:
        return list(pool.map(run, range(len(addresses))))


def highest_rate_bps(server: Server) -> float:
    """Find the highest rate of all tests that lasted long enough to have one."""
    ended = [line for line in server.events("test_ends") if line.get("seconds", 0) >= LONG_ENOUGH_S]
    rates = [8 * (line["sent_bytes"] + line["received_bytes"]) / line["seconds"] for line in ended]
    return max(rates, default=0.0)


def _address(lab: Lab) -> str:
    (address, *_) = lab.access[SERVER].addresses[CLIENTS]
    return address.address


def _device(lab: Lab, host: str) -> str:
    lines = _ip(lab, host, "-o", "link").splitlines()
    (device,) = [line.split(": ")[1].split("@")[0] for line in lines if ": lo:" not in line]
    return device


def _ip(lab: Lab, host: str, *words: str) -> str:
    command = [*lab.access[host].launch, "ip", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout
