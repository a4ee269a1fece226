"""Real iperf3 clients against the engine's server: every byte agrees; many at once; beside hostile ones."""

import time
from contextlib import ExitStack
from statistics import median

import pytest
from lab_support import needs_lab, run

from flowsweep.lab import Lab
from iperf3_guests import (
    CLIENTS,
    SERVER,
    Case,
    ask,
    beside_hostile,
    build_pair,
    disagreement,
    matrix,
    rates_at_once,
    run_matrix,
    running,
    serving,
)
from iperf3_shares import Setting, shares
from waiting import wait_until

pytestmark = needs_lab
RATE_BPS = 1_000_000
VANISHED_WITHIN_S = 12


@pytest.mark.quiet
def test_clients_and_server_agree_on_every_byte() -> None:
    cases = [
        case
        for case in matrix()
        # Half of the address families and users for each kind of test; tests/truth has all.
        if (case.flows, case.family, case.authenticated)
        in {(1, 4, True), (1, 6, False), (8, 6, True), (128, 4, False)}
    ]
    assert len(cases) >= 24
    wrong = {str(case): why for case, why in run_matrix(cases, at_once=6).items() if why}
    assert wrong == {}


@pytest.mark.quiet
def test_what_a_client_asks_for_is_what_it_gets() -> None:
    with build_pair() as lab, serving(lab) as server:
        for number, options in enumerate(
            [
                ["-k", "20", "-l", "10000"],
                ["-n", "1M", "-w", "64K", "-M", "1000", "-C", "reno", "-Z", "-N", "-S", "32"],
                ["-t", "1", "-O", "1", "-b", "5M"],
                ["-t", "1", "-O", "1", "-b", "5M", "-R", "-u", "--udp-counters-64bit"],
            ]
        ):
            report = ask(server, Case(), f"case {number}", options)
            assert disagreement(report, server.ended(f"case {number}")) is None
        report = ask(server, Case(), "shown", ["-n", "1M", "--get-server-output"])
        assert "[RX-S]" in report["server_output_text"]
        begun = {line["title"]: line for line in server.events("test_begins")}
        assert begun["case 1"]["window_bytes"] == 65536
        info = [line for line in server.events("interval") if line["test"] == begun["case 1"]["test"]]
        assert info[-1]["streams"][0]["tcp_info"]["rcv_mss_bytes"] <= 1000


@pytest.mark.quiet
def test_fifty_clients_at_once_have_the_same_rate() -> None:
    rates = rates_at_once(50, RATE_BPS)
    assert rates == pytest.approx([median(rates)] * 50, rel=0.1)
    assert median(rates) == pytest.approx(RATE_BPS, rel=0.1)


@pytest.mark.quiet
def test_clients_without_a_pace_get_what_their_links_carry() -> None:
    """Each has a link of its own: what is uneven is the server's doing."""
    rates = shares(Setting(10, 10 * 2_000_000, "cubic", own_links=True, own_server=True, seconds=4))
    assert rates == pytest.approx([median(rates)] * 10, rel=0.1)
    assert median(rates) == pytest.approx(2_000_000 * 0.95, rel=0.1)


@pytest.mark.long
@pytest.mark.quiet
def test_a_thousand_hostile_connections_do_not_disturb_a_test() -> None:
    seen = beside_hostile(1000, rounds=2)
    assert seen.connected >= 990
    assert seen.beside_bps == pytest.approx(seen.elsewhere_bps, rel=0.05)
    assert seen.memory_grew_bytes < 16 << 20
    assert seen.left == (0, 0)


def test_a_client_that_vanishes_without_a_word_frees_its_place_within_seconds() -> None:
    with build_pair() as lab, serving(lab, "--exclusive") as server:
        (device,) = [line.split(": ")[1].split("@")[0] for line in links(lab) if ": lo:" not in line]
        with running(server, Case(), "vanishes", ["-t", "60", "-b", "1M"]):
            wait_until(lambda: bool(server.events("interval")), timeout_s=30)
            run(lab.access[CLIENTS], "ip", "link", "set", device, "down")
            begin = time.monotonic()
            ended = server.ended("vanishes")
            took_s = time.monotonic() - begin
    assert ended["status"] == "client_gone"
    assert took_s < VANISHED_WITHIN_S


def test_of_clients_that_wait_the_one_that_vanishes_goes_and_the_other_stays() -> None:
    paced = ["-t", "60", "-b", "1M"]
    with build_pair() as lab, serving(lab, "--tests-max=1", "--queue=2") as server, ExitStack() as runs:
        (device,) = [line.split(": ")[1].split("@")[0] for line in links(lab) if ": lo:" not in line]
        runs.enter_context(running(server, Case(), "runs", paced, client=SERVER))
        server.wait_for("test_begins", 1)
        with running(server, Case(), "vanishes", paced):
            (first,) = server.wait_for("test_waits", 1)
            with running(server, Case(), "stays", paced, client=SERVER):
                _, second = server.wait_for("test_waits", 2)
                run(lab.access[CLIENTS], "ip", "link", "set", device, "down")
                begin = time.monotonic()
                (gone,) = server.wait_for("test_ends", 1)
                took_s = time.monotonic() - begin
                runs.close()
                _, begun = server.wait_for("test_begins", 2)
    assert (gone["test"], gone["status"]) == (first["test"], "client_gone")
    assert took_s < VANISHED_WITHIN_S
    assert (begun["test"], begun["title"]) == (second["test"], "stays")


def links(lab: Lab) -> list[str]:
    return run(lab.access[CLIENTS], "ip", "-o", "link").splitlines()
