"""Which end of Iperf's CSV sent, where the port that was listened on is not the usual one."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app

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
