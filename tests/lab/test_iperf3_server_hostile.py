"""Honest iperf3 clients beside hostile ones, and an end in time; tests/truth has a minute of it."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from lab_support import needs_lab

from flowsweep.hosts.engine import engine_path
from iperf3_guests import SERVER, Case, Server, ask, build_pair
from iperf3_hostile import RATE_MAX_BPS, under_attack
from long_tests import long_after

pytestmark = needs_lab
SERVED_WITHIN_S, STOPPED_WITHIN_S = 10, 1


@pytest.mark.quiet
@pytest.mark.parametrize("addresses", long_after(1, of=[20, 1]))
def test_honest_clients_are_served_beside_hostile_ones(addresses: int) -> None:
    seen = under_attack(addresses, rounds=1, round_s=5)
    assert seen.failed == []
    assert max(seen.served_within_s) <= SERVED_WITHIN_S
    assert seen.harm("connections") > 100
    assert seen.highest_rate_bps <= RATE_MAX_BPS * 1.05
    assert seen.stopped_within_s < STOPPED_WITHIN_S + seen.starved_s


@pytest.mark.parametrize("kind", ["standard output", "named pipe", "named pipe that is read by nobody"])
def test_a_log_that_nobody_reads_stops_neither_tests_nor_the_end(kind: str, tmp_path: Path) -> None:
    pipe = tmp_path / "log"
    os.mkfifo(pipe)
    # Read by nobody: nobody has even opened it.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if kind == "named pipe" else None
    log = "-" if kind == "standard output" else str(pipe)
    with build_pair() as lab:
        words = [*lab.access[SERVER].launch, str(engine_path()), "iperf3-server", f"--log={log}"]
        process = subprocess.Popen(
            [*words, "--interval=0.1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert process.stderr is not None
            assert process.stderr.readline().endswith(":5201\n")
            server = Server(lab, process, 5201, pipe, users=False)
            # 64 KiB of the pipe are full after some of it: a line of 16 streams has 20 KB.
            for number in range(3):
                report = ask(server, Case(flows=16), str(number), ["-t", "1", "-b", "100K", "-l", "1000"])
                assert report["returned"] == 0, report
            begin = time.monotonic()
            process.terminate()
            assert process.wait(timeout=30) == 0
            assert time.monotonic() - begin < STOPPED_WITHIN_S
        finally:
            process.kill()
            process.communicate()
            if reader is not None:
                os.close(reader)
