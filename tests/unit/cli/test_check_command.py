"""`flowsweep check` as a person sees it."""

from pathlib import Path

import pytest

from plan_support import HOSTS, command_line

SWEEP = """
[[sweep]]
name = "{name}"
paths = [{{ from = "left", to = "right" }}]
flows = {flows}
{more}
"""


def checked(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *sweeps: str,
    repeats: int | None = 1,
) -> list[str]:
    """The lines that tell of a plan."""
    plan = folder / "plan.toml"
    campaign = "" if repeats is None else f"[campaign]\nrepeats = {repeats}\n"
    plan.write_text(f"{campaign}{HOSTS}{''.join(sweeps)}")
    assert command_line(monkeypatch, "check", str(plan)) == 0
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def sweep(name: str, more: str = "", *, flows: int = 1) -> str:
    return SWEEP.format(name=name, flows=list(range(1, flows + 1)), more=more)


def test_the_number_of_trials_is_a_product(tmp_path, monkeypatch, capsys):
    both = sweep("there-and-back", 'directions = "both"', flows=9)
    lines = checked(tmp_path, monkeypatch, capsys, both, repeats=3)
    assert "trials 54 (9 points × 2 directions × 3 repeats)" in lines


def test_the_number_of_trials_is_a_product_of_a_sum_where_sweeps_differ(tmp_path, monkeypatch, capsys):
    sweeps = [sweep("there", flows=4), sweep("at-once", 'directions = "simultaneous"', flows=9)]
    lines = checked(tmp_path, monkeypatch, capsys, *sweeps, repeats=3)
    assert "trials 66 ((4 points + 9 points × 2 directions) × 3 repeats)" in lines


def test_what_is_set_is_listed_and_nothing_else(tmp_path, monkeypatch, capsys):
    asked = """rate = ["1Mbit/s", "2Mbit/s"]
pacing_rate = "10Mbit/s"
mss = "1200B"
dscp = 0
no_delay = [true, false]
affinity = "0-1"
family = 4"""
    lines = checked(tmp_path, monkeypatch, capsys, sweep("free"), sweep("set", asked))
    at = lines.index("sweep set")
    told = {
        "rate per flow 1.00 Mbit/s, 2.00 Mbit/s",
        "pacing per flow 10.0 Mbit/s",
        "MSS asked 1200 B",
        "DSCP 0",
        "no delay on, off",
        "CPUs 0+1",
        "IP version 4",
    }
    assert told <= set(lines[at:])
    titles = ("rate", "pacing", "MSS", "DSCP", "no delay", "CPUs", "IP")
    assert not [line for line in lines[:at] if line.startswith(titles)]


@pytest.mark.parametrize(
    ("test", "window", "congestion"),
    [
        ("tcp", "autotuning", "default of the host"),
        ("mptcp", "autotuning", "default of the host"),
        ("quic", "the library's own", "the library's own"),
    ],
)
def test_whose_choice_it_is_where_nothing_is_asked_for(
    tmp_path, monkeypatch, capsys, test, window, congestion
):
    lines = checked(tmp_path, monkeypatch, capsys, sweep("free", f'test = "{test}"'))
    assert {f"window per flow {window}", f"congestion {congestion}"} <= set(lines)


def test_a_search_says_where_it_looks_and_how_often(tmp_path, monkeypatch, capsys):
    search = 'rate_search = { low = "10Mbit/s", high = "1Gbit/s", resolution = "5Mbit/s" }'
    more = f'test = "udp"\ndirections = "both"\n{search}'
    lines = checked(tmp_path, monkeypatch, capsys, sweep("highest", more, flows=2), repeats=3)
    assert "trials 96 (2 points × 2 directions × 8 steps × 3 repeats)" in lines
    assert (
        "rate search 10.0 Mbit/s to 1.00 Gbit/s of all flows, to 5.00 Mbit/s, at most 0.100 % lost: "
        "8 steps each" in lines
    )


def test_the_model_says_what_to_expect_if_it_is_asked(tmp_path, monkeypatch, capsys):
    plan = tmp_path / "plan.toml"
    lab = '[lab.links.wire]\nbetween = ["left", "right"]\nrate = "100Mbit/s"\ndelay = "20ms"\n'
    asked = 'window = ["64KiB", "4MiB"]\nduration = "10s"\ncongestion = "cubic"'
    probes = sweep("probes", 'test = "rtt"').replace("flows = [1]\n", "")
    plan.write_text(f"[campaign]\nrepeats = 2\n{lab}{sweep('windows', asked)}{probes}")
    for options, told in ((["--predict"], True), ([], False)):
        assert command_line(monkeypatch, "check", str(plan), *options) == 0
        lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        for begins in (
            "predicted bytes about ",
            "predicted goodput 16.",
            "not predicted 1 point: it measures",
        ):
            assert any(line.startswith(begins) for line in lines) is told, lines


def test_space_is_for_all_pairs_of_a_host_at_once_and_for_both_directions(tmp_path, monkeypatch, capsys):
    plan = tmp_path / "plan.toml"
    hosts = "".join(
        f'[hosts.{name}]\naddress = "192.0.2.{number}"\nfolder = "/data"\n'
        for number, name in enumerate("abcd", start=1)
    )
    plan.write_text(f"""[groups]
many = ["a", "b", "c"]
{hosts}
[[sweep]]
test = "file"
paths = [{{ from = "many", to = "d" }}]
directions = "both"
file_size = "10GiB"
files = 1
duration = "60s"
""")
    assert command_line(monkeypatch, "check", str(plan)) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "must be free" in line]
    assert {"20 GiB in /data of a", "60 GiB in /data of d"} <= {
        part.strip() for part in line.split("free")[1].split(";")
    }


def test_what_disks_take_comes_on_top_of_the_time_of_files(tmp_path, monkeypatch, capsys):
    plan = tmp_path / "plan.toml"
    plan.write_text(HOSTS.replace("]\n", ']\nfolder = "/data"\n') + sweep("files", 'test = "file"'))
    assert command_line(monkeypatch, "check", str(plan)) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line.startswith("expected time")] == [
        "expected time at most 1 min, besides making and syncing files",
        "expected time at most 1 min, besides making and syncing files",
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('paths = [{ from = "a", to = "b" }]\ndirections = "simultaneous"', "4 GiB"),
        ('paths = [{ from = "a", to = "b" }]\ndirections = "both"', "2 GiB"),
        ('paths = [{ from = "all", to = "all" }]', "4 GiB"),
    ],
)
def test_space_is_for_what_a_host_sends_and_receives_at_once(tmp_path, monkeypatch, capsys, keys, expected):
    plan = tmp_path / "plan.toml"
    hosts = "".join(f'[hosts.{one}]\naddress = "192.0.2.1"\nfolder = "/data"\n' for one in "ab")
    plan.write_text(
        f'[groups]\nall = ["a", "b"]\n{hosts}[[sweep]]\ntest = "file"\nfile_size = "1GiB"\n{keys}\n'
    )
    assert command_line(monkeypatch, "check", str(plan)) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "must be free" in line]
    assert line.split("free")[1].strip() == f"{expected} in /data of a; {expected} in /data of b"


UNTIL = 'duration = { until = "2%", at_least = "3s", at_most = "30s" }'


@pytest.mark.parametrize("every", ["", 'every = "1h"'])
def test_what_may_be_done_early_takes_so_much_at_most(every, tmp_path, monkeypatch, capsys):
    """It was "at most 30 s" beside "about" all bytes of these, of trials that may last a tenth of that."""
    lines = checked(tmp_path, monkeypatch, capsys, sweep("there", f"{UNTIL}\n{every}"), repeats=None)
    assert [line for line in lines if line.startswith("expected time") and " at most " not in line] == []
    sent = [line for line in lines if line.startswith("expected bytes")]
    assert all("unknown" in line or " at most " in line for line in sent), sent
    busy = [line for line in lines if " of the time, sends " in line or " of the time, bytes " in line]
    assert bool(busy) == bool(every)
    assert all("busy for at most" in line for line in busy), busy


def test_bytes_of_a_search_are_the_most(monkeypatch, capsys):
    assert command_line(monkeypatch, "check", "plans/best.toml") == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "expected bytes at most about 1.03 GB" in lines
