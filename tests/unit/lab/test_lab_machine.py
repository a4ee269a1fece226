"""What the lab asks of the machine, without making anything on it: owners, errors of commands, signals."""

import os
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from flowsweep.defaults import LAB_COMMAND_TIMEOUT_S
from flowsweep.errors import LabError
from flowsweep.lab import command as commands
from flowsweep.lab import emulator, leftovers, rootless
from flowsweep.lab.owner import Owner
from flowsweep.lab.signals import ended_in_order, signals_held
from flowsweep.lab.topology import EmulatedLink, lay_out
from flowsweep.plan.links.model import Link, LinkDirection


def test_a_namespace_names_its_owner() -> None:
    owner = Owner.this_process()
    assert owner.pid == os.getpid()
    for kind in ("host", "link"):
        assert Owner.of_namespace(owner.namespace(kind, "a-host-1")) == owner


def test_each_lab_of_a_process_has_names_of_its_own_and_is_as_alive() -> None:
    one, other = Owner.new_lab(), Owner.new_lab()
    assert one.namespace("host", "a") != other.namespace("host", "a")
    assert one.process == other.process == Owner.this_process()
    for owner in (one, other):
        assert Owner.of_namespace(owner.namespace("link", "1-host-1")) == owner
        assert Owner.of_mark(owner.mark) == owner
        assert owner.is_alive()
        assert not replace(owner, start_ticks=owner.start_ticks - 1).is_alive()


@pytest.mark.parametrize(
    "name", ["lab-a", "flowsweep", "flowsweep-1-2-3", "flowsweep-x-2-3-host-a", "my-flowsweep-1-2-3-host-a"]
)
def test_other_namespaces_have_no_owner(name: str) -> None:
    assert Owner.of_namespace(name) is None


def test_an_owner_is_alive_only_with_its_own_start_time() -> None:
    owner = Owner.this_process()
    assert owner.is_alive()
    assert not replace(owner, start_ticks=owner.start_ticks - 1).is_alive()


def test_a_process_that_is_gone_owns_nothing() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert not replace(Owner.this_process(), pid=child.pid).is_alive()


def test_only_namespaces_of_gone_owners_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    alive = Owner.this_process()
    gone = replace(alive, start_ticks=alive.start_ticks - 1)
    of_another_container = replace(gone, pid_namespace=gone.pid_namespace + 1)
    owners = (alive, gone, of_another_container, Owner.new_lab())
    names = {*(owner.namespace("host", "a") for owner in owners), "somebody-elses"}
    monkeypatch.setattr(leftovers, "existing_namespaces", lambda: frozenset(names))
    removed = []
    monkeypatch.setattr(leftovers, "remove_namespaces", removed.extend)
    leftovers.remove_leftovers()
    assert removed == [gone.namespace("host", "a")]


def test_a_command_that_fails_is_named_with_its_words() -> None:
    with pytest.raises(LabError, match=r"`sh -c 'echo so >&2; exit 3'` ended with 3: so"):
        commands.command(["sh", "-c", "echo so >&2; exit 3"])


def test_a_refusal_says_what_is_needed() -> None:
    with pytest.raises(LabError, match="CAP_NET_ADMIN: run as root"):
        commands.command(["sh", "-c", "echo 'RTNETLINK answers: Operation not permitted' >&2; exit 2"])


def test_a_missing_program_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "environment", lambda: {"PATH": "/nowhere"})
    expected = r"`tc`.*apt-get install iproute2"
    with pytest.raises(LabError, match=expected):
        commands.command(["tc"])
    assert re.search(expected, commands.first_missing(["tc"]) or "")


def test_a_command_that_hangs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(arguments: list[str], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(arguments, timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(LabError, match=rf"`ip link` did not end within {LAB_COMMAND_TIMEOUT_S:g} s"):
        commands.command(["ip", "link"])


def test_an_error_of_a_batch_shows_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(arguments: list[str], *, text: str) -> str:
        raise LabError(f"{arguments} {text!r}")

    monkeypatch.setattr(commands, "command", refuse)
    with pytest.raises(LabError, match=r"link add x\\nlink set x up\\n(.|\n)*\n    link set x up$"):
        commands.batch(["ip"], ["link add x", "link set x up"])


def test_an_empty_batch_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "command", lambda *_, **__: pytest.fail("started"))
    commands.batch(["ip"], [])


def test_programs_are_also_looked_for_where_tc_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    assert commands.environment()["PATH"].split(os.pathsep) == ["/usr/bin", "/usr/sbin", "/sbin"]


def test_a_program_that_the_path_lacks_is_known_by_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ip"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setattr(commands, "environment", lambda: {"PATH": f"/nowhere{os.pathsep}{tmp_path}"})
    assert commands.path_of("ip") == str(program)
    with pytest.raises(LabError, match=r"`tc`.*apt-get install iproute2"):
        commands.path_of("tc")


def test_sigterm_ends_the_program_in_order_and_only_meanwhile() -> None:
    with pytest.raises(SystemExit) as ended, ended_in_order():
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_program_with_its_own_sigterm_handler_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: seen.append(number))
    try:
        with ended_in_order():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]


def test_a_held_signal_comes_after_the_block() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted_while_held(done)
    assert done == ["to the end"]


def _interrupted_while_held(done: list[str]) -> None:
    with signals_held():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append("to the end")


@pytest.mark.parametrize(
    ("mask", "may"),
    [(0, False), (1 << 12, False), (1 << 21, False), (1 << 12 | 1 << 21, True), (0x1FFFFFFFFFF, True)],
)
def test_administering_networks_takes_both_capabilities(
    mask: int, *, may: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tpython\nCapPrm:\t{0x1FFFFFFFFFF:016x}\nCapEff:\t{mask:016x}\n")
    monkeypatch.setattr(rootless, "STATUS", status)
    assert rootless.may_administer_networks() is may


def test_a_host_that_forbids_user_namespaces_is_told_how_to_allow_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    switch = tmp_path / "kernel" / "apparmor_restrict_unprivileged_userns"
    switch.parent.mkdir()
    switch.write_text("1\n")
    monkeypatch.setattr(rootless, "SETTINGS", tmp_path)
    monkeypatch.setattr(rootless, "_wrapped", lambda _: ("sh", "-c", "echo 'mount: denied' >&2; exit 32"))
    monkeypatch.setattr(rootless, "first_missing", lambda _: None)
    monkeypatch.delenv(rootless.INSIDE, raising=False)
    refused = rootless.user_namespace_refused()
    assert refused is not None
    assert "(mount: denied)" in refused
    assert "run as root, or allow user namespaces: `sysctl -w kernel.apparmor_restrict" in refused


@pytest.mark.parametrize("line", ["nonsense", '{"type": "counters"}', "7"])
def test_an_emulator_that_is_not_understood_is_a_broken_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    engine = tmp_path / "flowsweep-engine"
    engine.write_text(f"#!/bin/sh\necho '{line}'\ncat >/dev/null\n", encoding="ascii")
    engine.chmod(0o755)
    monkeypatch.setattr(emulator, "engine_path", lambda: str(engine))
    delayed, owner = LinkDirection(delay_ns=1_000), Owner.this_process()
    (layout,) = lay_out(
        [Link(name="l", between=("a", "b"), forward=delayed, backward=delayed)], (), owner
    ).links
    assert isinstance(layout, EmulatedLink)
    link = emulator.Emulator(layout, 1, owner)
    try:
        reason = f"expected a line of schema/emulation.json, the emulator said: {line}"
        with pytest.raises(LabError, match=re.escape(reason)):
            link.wait_ready()
    finally:
        link.end()
