"""A lab is taken down whatever ends its controller; what a killed one leaves goes at the next start."""

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from lab_support import controller, host, interfaces, link, namespaces_of, needs_lab, run, runs

from flowsweep.errors import LabError
from flowsweep.lab import build, build_lab, leftovers
from flowsweep.lab.owner import Owner
from flowsweep.plan.links.model import Link, LinkDirection
from waiting import wait_until

pytestmark = [*needs_lab, pytest.mark.quiet]
STAY = "print('stands', os.getpid(), flush=True); sys.stdin.read()"
UNPRIVILEGED = ("setpriv", "--bounding-set=-all,+setfcap", "--inh-caps=-all")
"""Root without a capability, but that to map itself: all that an ordinary user may do."""


def test_nothing_remains_after_the_end_or_an_error() -> None:
    before = interfaces()
    with build_lab([link("l", "a", "b", 1_000_000)], [host("a")]):
        assert len(namespaces_of(os.getpid())) == 3
    assert namespaces_of(os.getpid()) == []
    with pytest.raises(ZeroDivisionError), build_lab([link("l", "a", "b")], []):
        _ = 1 // 0
    assert namespaces_of(os.getpid()) == []
    assert interfaces() == before


def test_labs_of_one_process_with_the_same_hosts_stand_and_go_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delayed = LinkDirection(delay_ns=1_000)
    links, hosts = [Link(name="l", between=("a", "b"), forward=delayed, backward=delayed)], [host("a")]
    with build_lab(links, hosts) as outer:
        own = namespaces_of(os.getpid())
        processes = [emulator.pid for emulator in outer.emulators]
        with build_lab(links, hosts) as inner:
            assert len(namespaces_of(os.getpid())) == 2 * len(own) == 4
            assert all(map(runs, [*processes, *(emulator.pid for emulator in inner.emulators)]))
            assert run(inner.access["a"], "cat", "/sys/class/net/link0/operstate")
        assert namespaces_of(os.getpid()) == own
        with monkeypatch.context() as patched, pytest.raises(LabError, match="refused"):
            left_to_the_guard(patched, links)
        assert namespaces_of(os.getpid()) == own
        assert all(map(runs, processes))
        assert run(outer.access["a"], "cat", "/sys/class/net/link0/operstate")
    assert namespaces_of(os.getpid()) == []


def test_all_labs_of_a_killed_controller_go() -> None:
    process = controller(
        "with build_lab([Link(name='l', between=('a', 'b'), forward=way, backward=way)], []):\n"
        f"        {STAY}"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"stands {process.pid}\n"
    assert len(namespaces_of(process.pid)) == 6
    process.kill()
    process.communicate(timeout=180)
    wait_until(lambda: namespaces_of(process.pid) == [])


def test_a_lab_that_cannot_be_finished_is_taken_down() -> None:
    with pytest.raises(LabError, match="netns"), build_lab([link("x/y", "a", "b")], []):
        pytest.fail("a name with a slash cannot be a namespace's")
    assert namespaces_of(os.getpid()) == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, -signal.SIGINT)]
)
def test_a_signal_takes_the_lab_down(number: signal.Signals, code: int) -> None:
    process = standing()
    process.send_signal(number)
    process.communicate(timeout=180)
    assert process.returncode == code
    assert namespaces_of(process.pid) == []


def test_what_is_left_where_the_guard_is_killed_as_well_goes_at_the_next_start() -> None:
    process = controller(
        "quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}\n"
        "    own = {**os.environ, 'FLOWSWEEP_LAB': lab.topology.mark}\n"
        "    words = ['ip', 'netns', 'exec', names['a'], 'sleep', '600']\n"
        "    started = [subprocess.Popen(words, env=which, **quiet) for which in (own, os.environ)]\n"
        "    print(*[program.pid for program in started], flush=True)\n"
        "    sys.stdin.read()"
    )
    assert process.stdout is not None
    own_pid, other_pid = map(int, process.stdout.readline().split())
    wait_until(lambda: command_of(own_pid) == "sleep" == command_of(other_pid))
    try:
        # One that is stopped does not replace its guard.
        process.send_signal(signal.SIGSTOP)
        os.kill(guard_of(process.pid), signal.SIGKILL)
        process.kill()
        process.communicate(timeout=180)
        assert len(namespaces_of(process.pid)) == 3
        assert runs(own_pid)
        with build_lab([link("l", "a", "b")], []):
            assert namespaces_of(process.pid) == []
        assert not runs(own_pid)
        assert runs(other_pid)
    finally:
        os.kill(other_pid, signal.SIGKILL)


def test_a_killed_guard_is_replaced_and_the_next_one_does_the_same() -> None:
    process = standing()
    first = guard_of(process.pid)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: guard_of(process.pid) not in (0, first))
    process.kill()
    process.communicate(timeout=180)
    wait_until(lambda: namespaces_of(process.pid) == [])


def test_a_controller_that_nobody_asked_how_it_ended_is_gone() -> None:
    ended = subprocess.Popen(["true"])
    start_ticks = int(
        Path(f"/proc/{ended.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
    )
    wait_until(lambda: not runs(ended.pid))
    assert not replace(Owner.this_process(), pid=ended.pid, start_ticks=start_ticks).is_alive()
    ended.wait()


def test_the_lab_of_a_living_controller_is_left_alone() -> None:
    process = standing()
    try:
        leftovers.remove_leftovers()
        assert len(namespaces_of(process.pid)) == 3
    finally:
        process.communicate(timeout=180)
    assert process.returncode == 0


def test_without_privilege_the_controller_starts_itself_again_inside_a_user_namespace() -> None:
    process = controller(
        "print(os.getpid(), len(os.listdir('/run/netns')), flush=True)\n"
        "    words = ['ip', 'netns', 'exec', names['a'], 'ip', '-br', 'addr']\n"
        "    print('198.18.0.2/30' in subprocess.run(words, capture_output=True, text=True).stdout)\n"
        "    sys.exit(7)",
        UNPRIVILEGED,
    )
    output, errors = process.communicate(timeout=180)
    assert output.split() == [str(process.pid), "3", "True"], errors
    assert process.returncode == 7
    assert namespaces_of(process.pid) == []


def test_without_privilege_a_signal_reaches_the_controller() -> None:
    process = standing(prefix=UNPRIVILEGED)
    assert namespaces_of(process.pid) == []
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=180)
    assert process.returncode == 143


def test_a_host_that_refuses_user_namespaces_says_what_to_do() -> None:
    process = controller("pass", ("setpriv", "--bounding-set=-all", "--inh-caps=-all"))
    _, errors = process.communicate(timeout=180)
    assert process.returncode == 1
    assert "a lab needs root, or a user namespace, which this host refuses (unshare:" in errors
    assert "run as root" in errors


def standing(prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """A controller whose lab stands."""
    process = controller(STAY, prefix)
    assert process.stdout is not None
    assert process.stdout.readline() == f"stands {process.pid}\n"
    return process


def guard_of(controller: int) -> int:
    """The guard's process id; 0 while there is none."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if any(word.endswith(b"lab/guard.py") for word in words) and any(
            word.startswith(f"flowsweep-{controller}-".encode()) for word in words
        ):
            return int(process.name)
    return 0


def left_to_the_guard(patched: pytest.MonkeyPatch, links: list[Link]) -> None:
    """Build a lab that cannot take itself down."""

    def refuse(_: object) -> None:
        raise LabError("refused")

    with build_lab(links, []):
        patched.setattr(build, "remove_namespaces", refuse)


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/exe").readlink().name
