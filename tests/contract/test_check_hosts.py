"""`flowsweep check --hosts` with real engines on this machine: rows for hosts, and exit codes."""

import socket
import stat
import sys
from pathlib import Path

import pytest

from campaign_support import flowsweep
from flowsweep.hosts.engine import engine_path
from flowsweep.hosts.engine_version import PROTOCOL
from flowsweep.hosts.namespaces import here_is_namespace

pytestmark = pytest.mark.whole

WHERE = "on the machine that `b` is a network namespace of" if here_is_namespace() else "there"
PLAN = """
[hosts.a]
[hosts.b]
{host}
[[sweep]]
paths = [{{ from = "a", to = "b" }}]
duration = "4s"
{sweep}
"""


def rows(folder: Path, *, host: str = "", sweep: str = "", expect: int = 0) -> dict[tuple[str, str], str]:
    """By host and check the whole line; the last one under its own name."""
    plan = folder / "plan.toml"
    plan.write_text(PLAN.format(host=host, sweep=sweep), encoding="utf-8")
    *lines, last = flowsweep("check", "--hosts", plan, expect=expect).splitlines()
    found = {}
    for line in lines:
        about = line[11:].split(": found ")[0]
        name, what = about.split("  ", maxsplit=1)
        found[name, what] = line
    return found | {("", ""): last}


def test_all_is_well_on_this_machine(tmp_path: Path) -> None:
    found = rows(tmp_path, sweep='congestion = "reno"\nwindow = "64KiB"')
    assert set(found) == {
        ("", ""), ("a", "reached"), ("a", "clock"), ("a", "engine"), ("a", "send window"),
        ("a", "MTU towards b"), ("a", "congestion control"), ("b", "reached"), ("b", "clock"),
        ("b", "engine"), ("b", "receive window"), ("b", "MTU towards a"), ("b", "TCP from a"),
    }  # fmt: skip
    assert found["", ""] == "2 hosts, 12 checks: 12 ok"


@pytest.mark.parametrize(
    ("host", "sweep", "where", "expected"),
    [
        (
            "",
            'window = "900MB"',
            ("b", "receive window"),
            f"`sysctl -w net.core.rmem_max=900000000` as root {WHERE}",
        ),
        (
            "",
            'congestion = "nonesuch"',
            ("a", "congestion control"),
            "`modprobe tcp_nonesuch` as root there",
        ),
        (
            'launch = ["/nowhere/launcher"]\naddress = "127.0.0.1"',
            "",
            ("b", "reached"),
            "see that `/nowhere/launcher true` works here",
        ),
        ('address = "192.0.2.1"\nbind = "192.0.2.1"', "", ("b", "TCP from a"), "192.0.2.1"),
    ],
)
def test_what_would_make_trials_fail_is_a_problem(
    host: str, sweep: str, where: tuple[str, str], expected: str, tmp_path: Path
) -> None:
    found = rows(tmp_path, host=host, sweep=sweep, expect=1)
    assert found[where].startswith("problem "), found
    assert expected in found[where]
    assert found["a", "reached"].startswith("ok ")


def test_a_port_that_somebody_has_is_a_problem_and_a_free_one_is_none(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = rows(tmp_path, host=f'ports = "{port}-{port}"\nbind = "127.0.0.1"', expect=1)
        assert found["b", "TCP from a"].startswith("problem ")
        assert f"see that ports {port} to {port} (TCP) are free there" in found["b", "TCP from a"]
    found = rows(tmp_path, host=f'ports = "{port}-{port}"\nbind = "127.0.0.1"')
    assert found["b", "TCP from a"].startswith("ok ")


def test_an_engine_that_speaks_another_protocol_is_a_problem(tmp_path: Path) -> None:
    """The real one behind a script that changes its first word."""
    script = tmp_path / "engine"
    code = (
        "import subprocess, sys\n"
        f"own = subprocess.Popen([{str(engine_path())!r}, *sys.argv[1:]], stdout=subprocess.PIPE)\n"
        "while said := own.stdout.read1(1 << 16):\n"
        f"    said = said.replace(b'\"protocol\":{PROTOCOL}', b'\"protocol\":{PROTOCOL - 1}')\n"
        "    sys.stdout.buffer.write(said)\n"
        "    sys.stdout.flush()\n"
    )
    script.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    found = rows(tmp_path, host=f'engine = "{script}"', expect=1)
    assert found["b", "reached"].startswith("problem ")
    assert "an engine of another version answered" in found["b", "reached"]
    assert "leave `engine` of [hosts.b] out" in found["b", "reached"]


def test_a_plan_that_is_wrong_is_bad_input(tmp_path: Path) -> None:
    rows_of_none = tmp_path / "plan.toml"
    rows_of_none.write_text("[hosts.a]\n", encoding="utf-8")
    flowsweep("check", "--hosts", rows_of_none, expect=2)


def test_run_ends_before_its_first_trial_where_none_can_run(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(host="", sweep='window = "900MB"'), encoding="utf-8")
    flowsweep("run", plan, "--archive", tmp_path / "archive", expect=2)
    assert not (tmp_path / "archive").exists(), "nothing is in the way of the same command"
