"""ns-3 is asked in a process of its own: what becomes of its answers, and of none."""

from pathlib import Path

import pytest

from flowsweep.errors import SimulationError
from flowsweep.prediction.setting import FlowSetting, PathModel
from flowsweep.prediction.simulation import simulate
from flowsweep.prediction.simulation.simulate import check_simulator, simulated


def settings(*flow_bps: float | None) -> list[FlowSetting]:
    path = PathModel(rate_bps=20e6, rtt_s=0.04, queue_bytes=100_000)
    return [FlowSetting(path, 1, "cubic", 20, rate, 1448, 10.0, 0.0) for rate in flow_bps]


def interpreter(folder: Path, script: str) -> str:
    """A program in the place of Python: as the simulator it reads lines and answers."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def test_each_setting_has_its_answer(tmp_path: Path) -> None:
    answers = 'n=0; while read line; do n=$((n+1)); echo "{\\"goodput_bps\\": ${n}e6}"; done'
    done: list[int] = []
    python = interpreter(tmp_path, answers)
    assert simulated(settings(None, 1e6, None), done.append, python=python) == [1e6, None, 2e6]
    assert done == [1, 2, 3]


def test_a_simulator_that_ends_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="ns-3 ended without an answer"):
        simulated(settings(None), python=interpreter(tmp_path, "exit 1"))


def test_a_simulator_that_is_silent_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate, "DEADLINE_S", 0.2)
    with pytest.raises(SimulationError, match=r"no answer within 0\.2 s"):
        simulated(settings(None), python=interpreter(tmp_path, "exec sleep 60"))


def test_without_ns3_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "PACKAGE", "ns_that_is_nowhere")
    with pytest.raises(SimulationError, match="`pip install 'ns3>="):
        check_simulator()
