"""Settings simulated by ns-3, packet by packet: slow, and independent of the fluid model."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from flowsweep.errors import SimulationError
from flowsweep.prediction.setting import FlowSetting

PACKAGE = "ns"
"""What ns-3's bindings are imported as."""
INSTALL = "pip install 'ns3>=3.44'"
"""What brings them."""
DEADLINE_S = 900.0
"""For one setting, and for the bindings to load: 1 Gbit/s for 10 s takes some minutes."""
_PROGRAM = Path(__file__).with_name("dumbbell.py")


def check_simulator() -> None:
    """Make sure that ns-3 is there.

    Raises:
        SimulationError: It is not; says how it is installed.
    """
    if find_spec(PACKAGE) is None:
        raise SimulationError(
            "--simulate: ns-3's Python bindings are not installed here; install them with "
            f"`{INSTALL}` (500 MB), or leave the option out"
        )


def simulated(
    settings: Sequence[FlowSetting],
    done: Callable[[int], object] = lambda _: None,
    *,
    python: str = sys.executable,
) -> list[float | None]:
    """Simulate settings, one after the other.

    Args:
        settings: What to simulate.
        done: Called with how many are done, after each.
        python: The interpreter that has ns-3.

    Returns:
        Mean goodput (bit/s) of all flows over the time that counts; None where applications have a rate of
        their own, which is not simulated.

    Raises:
        SimulationError: The simulator ended, or gave no answer within DEADLINE_S.
    """
    with subprocess.Popen(
        [python, str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,  # What is left of a line for a process that has ended would fail once more at the end.
    ) as process:
        answers: queue.Queue[bytes] = queue.Queue()
        reader = threading.Thread(target=_read, args=(process, answers), daemon=True)
        reader.start()
        try:
            found = []
            for count, setting in enumerate(settings, start=1):
                found.append(None if setting.flow_bps is not None else _one(process, answers, setting))
                done(count)
            return found
        finally:
            process.kill()
            reader.join()


def _read(process: "subprocess.Popen[bytes]", lines: "queue.Queue[bytes]") -> None:
    """Collect a process's lines, so that waiting for one may have a deadline; the empty line is its end."""
    if process.stdout is not None:
        for line in process.stdout:
            lines.put(line)
    lines.put(b"")


def _one(process: "subprocess.Popen[bytes]", answers: "queue.Queue[bytes]", setting: FlowSetting) -> float:
    try:
        if process.stdin is not None:
            process.stdin.write(json.dumps(asdict(setting)).encode() + b"\n")
        answer = answers.get(timeout=DEADLINE_S)
    except queue.Empty:
        raise SimulationError(
            f"ns-3 gave no answer within {DEADLINE_S:g} s: simulate fewer or shorter points"
        ) from None
    except BrokenPipeError:
        answer = b""
    if not answer:
        raise SimulationError(f"ns-3 ended without an answer; run it by hand to see why: {_PROGRAM}")
    return float(json.loads(answer)["goodput_bps"]) * setting.application_share
