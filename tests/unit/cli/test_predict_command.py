"""`flowsweep predict`: tables for people, rows for programs, one message for what is wrong."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from typer.testing import Result

from flowsweep.errors import PlanError
from flowsweep.prediction.simulation.simulate import INSTALL
from invoked import invoke

SWEEP = """
[[sweep]]
name = "windows"
paths = [{ from = "left", to = "right" }]
directions = "both"
window = ["64KiB", "4MiB"]
duration = "10s"
omit = "2s"
"""
LAB = (
    '[campaign]\nrepeats = 3\n[lab.links.wire]\nbetween = ["left", "right"]\n'
    f'rate = "100Mbit/s"\ndelay = "20ms"\n{SWEEP}congestion = "cubic"\n'
)
REAL = f'[hosts.left]\naddress = "10.0.0.1"\n[hosts.right]\naddress = "10.0.0.2"\n{SWEEP}'


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    path = tmp_path / "lab.toml"
    path.write_text(LAB, encoding="utf-8")
    return path


@pytest.fixture
def real(tmp_path: Path) -> Path:
    path = tmp_path / "real.toml"
    path.write_text(REAL, encoding="utf-8")
    return path


def predict(*arguments: str | Path) -> Result:
    return invoke("predict", *arguments)


def test_the_help_says_how_to_install_the_simulator_as_the_error_does() -> None:
    assert f"`{INSTALL}`" in re.sub(r"[\s│]+", " ", predict("--help").output)


def test_a_row_for_each_point_and_direction(lab: Path) -> None:
    told = predict(lab, "--format", "json")
    assert told.exit_code == 0, told.output
    rows = json.loads(told.stdout)
    assert [(row["src"], row["window_bytes"]) for row in rows] == [
        ("left", 65_536), ("right", 65_536), ("left", 4 << 20), ("right", 4 << 20),
    ]  # fmt: skip
    small, large = rows[0], rows[2]
    assert (small["predicted_limit"], large["predicted_limit"]) == ("window", "path")
    assert large["predicted_goodput_bps"] == pytest.approx(100e6 * 1448 / 1500, rel=0.01)
    assert small["predicted_bytes"] == pytest.approx(small["predicted_goodput_bps"] * 10 / 8, rel=0.05)
    assert (small["repeats"], small["duration_s"], small["omit_s"]) == (3, 10.0, 2.0)
    assert small["not_predicted"] is None


def test_csv_has_the_same_columns(lab: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(predict(lab, "--format", "csv").stdout)))
    assert list(rows[0]) == list(json.loads(predict(lab, "--format", "json").stdout)[0])


def test_the_table_names_limits_and_says_what_a_campaign_costs(lab: Path) -> None:
    told = predict(lab)
    for expected in (
        "predicted goodput",
        "limited by",
        "left → right",
        "96.5 Mbit/s",
        "window",
        "12 trials, about ",
    ):
        assert expected in told.stdout, told.stdout
    assert "names no congestion control" not in told.stdout


@pytest.mark.parametrize(
    ("times", "each_time", "until_end"),
    [
        ('every = "10min"\n', True, False),
        ('every = "10min"\nfor = "95min"\n', True, True),
        ("", False, False),
    ],
)
def test_what_is_predicted_of_a_plan_with_times_is_said_of_each_time_and_of_all(
    lab: Path, times: str, *, each_time: bool, until_end: bool
) -> None:
    """It is due ten times within 95 minutes."""
    text = lab.read_text().replace("repeats = 3\n", times)
    lab.write_text(text, encoding="utf-8")
    found = [predict(lab).stdout, invoke("check", "--predict", lab).stdout]
    for told in (" ".join(one.split()) for one in found):
        assert ("each time that the sweeps are due" in told) == each_time, told
        assert ("until the plan's end, if it begins now and no time is missed" in told) == until_end, told
    if until_end:
        [(once, whole)] = re.findall(
            r"and ([\d.]+) MB of payload each time that the sweeps are due; ([\d.]+) GB until", found[0]
        )
        assert float(whole) == pytest.approx(float(once) / 100, rel=0.01)


def test_real_hosts_need_to_be_told_of(real: Path) -> None:
    told = predict(real)
    reason = "the path is not known; say what it is: `flowsweep predict PLAN --rate 1Gbit/s --rtt 20ms`"
    assert f"not predicted, 4 points: {reason}" in told.stdout
    assert "how many bytes is not predicted" in told.stdout
    told = predict(real, "--rate", "1Gbit/s", "--rtt", "80ms", "--queue", "5MB", "--loss", "0.001%")
    assert "Where the plan names no congestion control, the model takes cubic." in told.stdout
    assert "cubic" in told.stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--rate", "1Gb", "--rtt", "1ms"), ("--rate: 1 problem", 'did you mean "1Gbit/s"')),
        (("--rate", "1Gbit/s", "--rtt", "80"), ("--rtt: 1 problem", "has no unit")),
        (("--rate", "1Gbit/s", "--rtt", "80ms", "--loss", "200%"), ("--loss: 1 problem",)),
        (("--rate", "1Gbit/s", "--rtt", "80ms", "--loss", "7"), ("--loss: 1 problem",)),
        (("--loss", "0.01"), ("--loss: 1 problem", "expected --rate, --rtt, too")),
        (("--rate", "1Gbit/s"), ("expected --rtt, too",)),
    ],
)
def test_a_path_that_is_described_wrongly(
    real: Path, options: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    told = predict(real, *options)
    assert isinstance(told.exception, PlanError)
    assert all(words in str(told.exception) for words in expected), told.exception


def test_a_lab_says_itself_what_its_paths_are(lab: Path) -> None:
    told = predict(lab, "--rate", "1Gbit/s", "--rtt", "80ms")
    assert isinstance(told.exception, PlanError)
    assert "has a lab, whose links say what its paths are" in str(told.exception)


SHORT = (
    '[lab.links.wire]\nbetween = ["left", "right"]\nrate = "100Mbit/s"\ndelay = "50ms"\n'
    '[[sweep]]\nname = "s"\n'
    'paths = [{ from = "left", to = "right" }]\ninterval = "100ms"\nflows = [1, 2]\n'
)
UNTIL = 'duration = { until = "2%", at_most = "60s" }\n'


def both_told(folder: Path, text: str) -> list[str]:
    """What `predict` says of a plan, and `check --predict`."""
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    told = [predict(plan), invoke("check", "--predict", plan)]
    assert [each.exit_code for each in told] == [0, 0], told
    return [" ".join(each.stdout.split()) for each in told]


def test_what_the_model_was_not_compared_with_is_said_of_a_check_too(tmp_path: Path) -> None:
    predicted, checked = both_told(tmp_path, f'{SHORT}duration = "1s"\n')
    assert (
        "At 2 points congestion control decides, beyond what the model was compared with: 10 to" in predicted
    )
    assert "takes cubic, since the plan names no congestion control; beyond what the model was" in checked
    assert "compared with: 2 points" in checked
    for told in both_told(tmp_path, f'{SHORT}duration = "10s"\ncongestion = "cubic"\n'):
        assert "beyond" not in told
        assert "names no congestion control" not in told


def test_what_trials_that_end_when_they_know_take_is_at_most(tmp_path: Path) -> None:
    predicted, checked = both_told(tmp_path, SHORT + UNTIL)
    assert "2 trials, at most 2 min" in predicted
    assert "expected time at most 2 min" in checked
    assert "predicted bytes at most 1." in checked
    predicted, checked = both_told(tmp_path, f'{SHORT}duration = "60s"\n')
    assert "2 trials, about 2 min" in predicted
    assert "predicted bytes about 1." in checked


@pytest.mark.parametrize(
    ("windows", "size"),
    [
        ("", "1.12 MB"),
        ('window_recv = "64KiB"\n', "84.0 KB"),
        ('window_send = "64KiB"\n', "117 KB"),
        ('window = "64KiB"\n', None),
    ],
)
def test_limits_of_hosts_are_named_where_an_end_is_left_to_the_kernel(
    lab: Path, windows: str, size: str | None
) -> None:
    lab.write_text(LAB.replace('window = ["64KiB", "4MiB"]\n', windows), encoding="utf-8")
    told = predict(lab).stdout
    assert ("A host's limits (tcp_rmem, tcp_wmem) may be lower." in told) == (size is not None)
    assert size is None or f"up to {size} a flow" in told, told
