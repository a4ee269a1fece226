"""`check` refuses what `run` would refuse on this machine, where that can be known without running."""

import shutil
from pathlib import Path

import pytest

from flowsweep.cli import this_machine
from plan_support import HOSTS, command_line

LAB = '[lab.links.l]\nbetween = ["left", "right"]\nrate = "1Mbit/s"\n'
LAB_HERE = this_machine.lab_possible()
IN_BOTH = pytest.mark.parametrize(
    "hosts",
    [
        HOSTS,
        pytest.param(LAB, marks=pytest.mark.skipif(LAB_HERE is not None, reason=str(LAB_HERE))),
    ],
    ids=["loopback", "lab"],
)


def check(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    hosts: str,
    more: str = "",
) -> tuple[int, str]:
    plan = folder / "plan.toml"
    plan.write_text(f'{hosts}\n[[sweep]]\nname = "s"\npaths = [{{ from = "left", to = "right" }}]\n{more}\n')
    code = command_line(monkeypatch, "check", str(plan))
    return code, capsys.readouterr().err


@IN_BOTH
@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        (
            'congestion = "no-such-control"',
            "sweep s: congestion: this machine has no no-such-control (it has: ",
        ),
        (
            'window = "1073741823B"',
            "sweep s: a send window of 1.07 GB is more than this machine grants; raise",
        ),
        (
            'window_recv = "1073741823B"',
            "sweep s: a receive window of 1.07 GB is more than this machine grants",
        ),
        ('affinity = "8191"', "sweep s: affinity: this machine lets nothing run on CPU 8191"),
        (
            '[[sweep.background]]\nname = "b"\ncongestion = "no-such-control"',
            "sweep s: congestion: this machine has no no-such-control",
        ),
    ],
)
def test_what_the_kernel_refuses_is_refused(hosts, asked, refused, tmp_path, monkeypatch, capsys):
    code, said = check(tmp_path, monkeypatch, capsys, hosts, asked)
    assert code == 2
    assert refused in said


@pytest.mark.parametrize(
    ("is_namespace", "where"),
    [
        (False, "=1073741823`, or say"),
        (True, "=1073741823` on the machine that this is a network namespace of, or"),
    ],
)
def test_a_limit_of_the_machine_is_raised_there(
    *, is_namespace: bool, where: str, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(this_machine, "here_is_namespace", lambda: is_namespace)
    this_machine._window_refused.cache_clear()
    _, said = check(tmp_path, monkeypatch, capsys, HOSTS, 'window = "1073741823B"')
    this_machine._window_refused.cache_clear()
    assert where in " ".join(said.split())


@IN_BOTH
def test_what_the_kernel_grants_is_accepted(hosts, tmp_path, monkeypatch, capsys):
    more = 'congestion = "reno"\nwindow = "64KiB"\naffinity = "0"'
    assert check(tmp_path, monkeypatch, capsys, hosts, more) == (0, "")
    assert check(tmp_path, monkeypatch, capsys, hosts, 'window = "1073741823B"\nclip = "allow"')[0] == 0


@IN_BOTH
def test_congestion_control_of_a_library_is_none_of_the_kernel(hosts, tmp_path, monkeypatch, capsys):
    more = 'test = "quic"\ncongestion = "newreno"'
    assert check(tmp_path, monkeypatch, capsys, hosts, more) == (0, "")


def test_other_machines_are_not_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(this_machine.shutil, "which", lambda _: "/bin/true")
    hosts = "".join(
        f'[hosts.{name}]\nlaunch = ["ssh", "{name}"]\naddress = "{name}"\n' for name in ("left", "right")
    )
    more = 'congestion = "no-such-control"\nwindow = "1073741823B"\naffinity = "8191"'
    assert check(tmp_path, monkeypatch, capsys, hosts, more) == (0, "")


@pytest.mark.parametrize(
    ("left", "refused"),
    [
        (
            'launch = ["no-such-launcher", "x"]',
            'hosts.left.launch: there is no program "no-such-launcher" here',
        ),
        ('engine = "/no/such/engine"', 'hosts.left.engine: there is no program "/no/such/engine" here'),
        ('bind = "192.0.2.7"', "hosts.left.bind: 192.0.2.7 is no address of this machine"),
    ],
)
def test_hosts_that_cannot_be_had_are_named(left, refused, tmp_path, monkeypatch, capsys):
    hosts = f'[hosts.left]\n{left}\naddress = "127.0.0.1"\n[hosts.right]\naddress = "127.0.0.1"\n'
    code, said = check(tmp_path, monkeypatch, capsys, hosts)
    assert (code, refused in said) == (2, True), said


def test_a_lab_that_cannot_be_made_says_why(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(this_machine, "lab_possible", lambda: "a lab needs `tc`, which is not installed")
    code, said = check(tmp_path, monkeypatch, capsys, LAB)
    assert code == 2
    assert "no lab can be made here: a lab needs `tc`, which is not installed" in said


def test_a_missing_iperf3_is_named(tmp_path, monkeypatch, capsys):
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, **more: None if name == "iperf3" else which(name, **more)
    )
    monkeypatch.setattr(this_machine, "lab_possible", lambda: None)
    code, said = check(tmp_path, monkeypatch, capsys, f'[hosts.right]\npeer = "iperf3"\n{LAB}')
    assert code == 2
    assert "for which a lab runs the iperf3 of this machine: there is none; install it" in said


def test_the_password_of_an_iperf3_server_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NOT_SET", raising=False)
    login = 'user = "u"\npassword_env = "NOT_SET"\npublic_key = "key.pem"'
    hosts = f'[hosts.left]\n[hosts.right]\npeer = "iperf3"\naddress = "192.0.2.1"\n{login}\n'
    code, said = check(tmp_path, monkeypatch, capsys, hosts)
    assert code == 2
    assert "environment variable NOT_SET, which is not set" in said


def test_a_host_needs_a_table_and_an_empty_one_is_this_machine(tmp_path, monkeypatch, capsys):
    code, said = check(tmp_path, monkeypatch, capsys, "[hosts.left]\n")
    assert code == 2
    assert 'found the unknown host "right": describe it in [hosts.right], which may be empty if' in said
    assert check(tmp_path, monkeypatch, capsys, HOSTS) == (0, "")
