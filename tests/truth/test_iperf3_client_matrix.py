"""Every kind of test of the engine against real iperf3 servers: the bytes are those that they report."""

import itertools
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result

from iperf3_guests import programs, version_of
from iperf3_servers import (
    PORT,
    Log,
    all_arrived,
    carried_in,
    disagreement,
    iperf3_server,
    kind_of,
    run_campaign,
)
from iperf3_told import Wire, on_the_wire
from waiting import wait_until

FLOWS = (1, 8, 128)
LOG, CAPTURE = "server.json", "told.pcap"
AT_ONCE = 2
"""Servers that are tested at the same time."""
TESTS = 2 * 3 * len(FLOWS)
"""Of each server and family: two protocols, three directions."""
TIMEOUT_S = 1200


@dataclass(frozen=True)
class Kind:
    """What all tests of one campaign have in common."""

    program: str
    family: int
    users: bool

    def __str__(self) -> str:
        return f"IPv{self.family}{' with user' if self.users else ''}"


def test_every_kind_of_test_has_the_bytes_that_the_server_reports(tmp_path: Path) -> None:
    kinds = [Kind(*kind) for kind in itertools.product(programs(), (4, 6), (False, True))]
    folders = [tmp_path / str(number) for number in range(len(kinds))]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        archives = list(pool.map(carry_out, kinds, folders))
    # What tells an archive's summary is not for several threads.
    outcomes = [
        outcome
        for kind, archive in zip(kinds, archives, strict=True)
        for outcome in outcomes_of(kind, archive)
    ]
    wrong = {f"{case} {kind}": why for case, kind, why, _ in outcomes if why}
    result = {
        "servers": [version_of(program) for program in programs()],
        "cases": len(outcomes),
        "wrong": wrong,
        "not_all_arrived": [f"{case} {kind}" for case, kind, _, arrived in outcomes if not arrived],
    }
    write_result("iperf3-client", "flowsweep's engine against real iperf3 servers", result)
    good = Counter(case for case, _, why, _ in outcomes if why is None)
    whole = Counter(case for case, _, _, arrived in outcomes if arrived)
    all_of = Counter(case for case, *_ in outcomes)
    rows = [(case, f"{good[case]} of {count}", f"{whole[case]} of {count}") for case, count in all_of.items()]
    columns = ("server, protocol, direction, flows", "agree to the byte", "all that was sent was received")
    fill_table(NOTES / "iperf3-client.md", "matrix", table(columns, rows))
    assert len(outcomes) == TESTS * len(kinds)
    assert wrong == {}


def carry_out(kind: Kind, folder: Path) -> Path:
    """Run all tests of a kind; their archive, with the server's log and what it told beside it."""
    folder.mkdir()
    with (
        iperf3_server(kind.program, folder / LOG, users=kind.users) as server,
        on_the_wire(server.namespace, PORT, folder / CAPTURE) as wire,
    ):
        plan = server.plan(folder, "".join(sweeps(kind.family)), family=kind.family)
        archive = run_campaign(plan, expect=None, timeout_s=TIMEOUT_S)
        # What failed is found out from the archive.
        with suppress(AssertionError):
            server.log.wait_for(TESTS)
            wait_until(lambda: len(wire.told()) >= TESTS, timeout_s=30)
        return archive


def outcomes_of(kind: Kind, archive: Path) -> Iterator[tuple[str, Kind, str | None, bool]]:
    """What each test of a kind is, how the two ends disagree, and whether all that was sent was received."""
    log, told = Log(archive.parent / LOG), Wire(archive.parent / CAPTURE).told()
    for test in carried_in(archive):
        first = test[0].trial
        name = f"{version_of(kind.program)} {first['test']} {kind_of(test)} {first['flows']}"
        yield name, kind, disagreement(test, log, told), all_arrived(test)


def sweeps(family: int) -> Iterator[str]:
    """The sweeps of one campaign: each protocol one way, the other way, and both at once."""
    for test, directions in itertools.product(("tcp", "udp"), ("both", "simultaneous")):
        congestion = 'congestion = "cubic"' if test == "tcp" else ""
        yield f"""
            [[sweep]]
            name = "{test}-{directions}"
            test = "{test}"
            paths = [{{ from = "near", to = "far" }}]
            directions = "{directions}"
            flows = {list(FLOWS)}
            family = {family}
            length = "1000B"
            rate = "500kbit/s"
            {congestion}
            duration = "900ms"
            interval = "300ms"
        """
