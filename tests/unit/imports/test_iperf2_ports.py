"""Which end of Iperf's CSV sent, where the port that was listened on is not the usual one."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import former_ids

load(["import"])

TURNED = ["from=10.0.0.1", "to=10.0.0.2", "role=source"]


def row(first_port: int, second_port: int, more: str = "") -> str:
    return (
        f"20240101120010,10.0.0.1,{first_port},10.0.0.2,{second_port},3,0.0-10.0,1180000000,944000000{more}\n"
    )


def told(tmp_path: Path, text: str, settings: list[str]) -> tuple[tuple[str | None, ...], str]:
    """Source, sink and goodput's method, and what the import says."""
    (tmp_path / "results.csv").write_text(text, "utf-8")
    words = ["import", str(tmp_path / "results.csv"), "--archive", str(tmp_path / "old")]
    for setting in settings:
        words += ["--set", setting]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    (trial,) = read_archive(tmp_path / "old").state.imported.values()
    return (trial.src, trial.dst, trial.goodput_method), done.stderr


@pytest.mark.parametrize(
    ("ports", "settings", "expected"),
    [
        ((40_000, 60_001), TURNED, ("10.0.0.1", "10.0.0.2", "sender_mean")),
        ((40_000, 60_001), ["from=10.0.0.1"], ("10.0.0.1", "10.0.0.2", "sender_mean")),
        ((60_001, 40_000), ["from=10.0.0.2"], ("10.0.0.2", "10.0.0.1", "receiver_mean")),
        ((40_000, 60_001), ["to=10.0.0.2", "role=source"], ("10.0.0.1", "10.0.0.2", "sender_mean")),
        ((40_000, 60_001), ["from=c"], ("c", "10.0.0.1", "receiver_mean")),
        ((40_000, 60_001), [], ("10.0.0.2", "10.0.0.1", "receiver_mean")),
        ((5201, 40_000), ["from=a", "to=b"], ("a", "b", "receiver_mean")),
    ],
)
def test_where_no_port_is_the_usual_one_the_direction_can_be_set(
    tmp_path: Path, ports: tuple[int, int], settings: list[str], expected: tuple[str, ...]
) -> None:
    found, said = told(tmp_path, row(*ports), settings)
    assert found == expected
    assert "no effect" not in said
    [flow] = read_archive(tmp_path / "old").tables().flows.to_pyarrow().to_pylist()
    # The end that counted is the first one.
    assert (flow["local_port"], flow["remote_port"]) == ports


@pytest.mark.parametrize("ports", [(5001, 40_000), (40_000, 5001), (443, 40_000)])
def test_a_usual_port_tells_the_direction(tmp_path: Path, ports: tuple[int, int]) -> None:
    _, said = told(tmp_path, row(*ports), ["from=x", "to=y"])
    assert "--set from, to: has no effect" in said


def test_of_datagrams_losses_tell_the_end(tmp_path: Path) -> None:
    """A server of 2.0 at a port above its client's."""
    text = row(60_001, 40_000, more=",0.127,61,16053,0.38,2")
    found, said = told(tmp_path, text, ["from=10.0.0.2", "to=10.0.0.1", "role=source"])
    assert found == ("10.0.0.2", "10.0.0.1", "receiver_mean")
    assert "--set role: has no effect" in said


BOTH = """\
20261122075855,10.0.0.1,46737,10.0.0.2,60001,3,0.0-10.0,1175000000,940000000
20261122075905,10.0.0.1,60001,10.0.0.2,47001,4,0.0-10.0,587500000,470000000
"""
PARALLEL = """\
20261122075855,10.0.0.1,46737,10.0.0.2,60001,3,0.0-10.0,1175000000,940000000
20261122075855,10.0.0.1,46738,10.0.0.2,60001,4,0.0-10.0,587500000,470000000
20261122075855,10.0.0.1,0,10.0.0.2,60001,-1,0.0-10.0,1762500000,1410000000
"""


def read(tmp_path: Path, text: str) -> tuple[Transfer, ...]:
    (tmp_path / "results.csv").write_text(text, "utf-8")
    return read_file(tmp_path / "results.csv").transfers


def test_the_port_of_several_connections_was_listened_on(tmp_path: Path) -> None:
    """Both tests of -r, and parallel flows, at a port above those of the clients."""
    tests = read(tmp_path, BOTH)
    assert [(test.src, test.dst, test.role) for test in tests] == [
        ("10.0.0.1", "10.0.0.2", None), ("10.0.0.2", "10.0.0.1", "sink"),
    ]  # fmt: skip
    assert [(test.flows[0].source_port, test.flows[0].sink_port) for test in tests] == [
        (46_737, 60_001), (47_001, 60_001),
    ]  # fmt: skip
    assert [test.assumed for test in tests] == [(), ()]
    assert former_ids(tests) == ["0f0bf4561a29", "73df8bc19fc5"]
    (test,) = read(tmp_path, PARALLEL)
    assert (test.src, test.dst, test.flow_count, test.total.rate_bps) == ("10.0.0.1", "10.0.0.2", 2, 1.41e9)


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        (BOTH, [], None),
        (BOTH.replace("1,60001", "1,60002"), [], "the direction of 2 tests is assumed"),
        (BOTH.replace("1,60001", "1,46001"), ["from=10.0.0.1", "to=10.0.0.2"], None),
        (BOTH.replace("1,60001", "1,48001"), ["from=10.0.0.1", "to=10.0.0.2"], "gave 2 tests one direction"),
    ],
)
def test_a_direction_that_is_assumed_is_said(
    tmp_path: Path, text: str, settings: list[str], said: str | None
) -> None:
    (tmp_path / "results.csv").write_text(text, "utf-8")
    words = ["import", str(tmp_path / "results.csv"), "--archive", str(tmp_path / "old")]
    done = CliRunner().invoke(app, words + [word for setting in settings for word in ("--set", setting)])
    assert done.exit_code == 0, done.output
    assert (said in done.output) if said else (" direction" not in done.output)
