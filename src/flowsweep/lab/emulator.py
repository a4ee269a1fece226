"""The process that carries an emulated link's packets: started, listened to, ended."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import threading
from collections.abc import Iterator
from typing import Any, cast

from flowsweep import defaults
from flowsweep.bounded_text import parse_json
from flowsweep.errors import LabError
from flowsweep.hosts.engine import engine_path
from flowsweep.lab.counter_log import CounterLog, Counters
from flowsweep.lab.emulation import emulation, seed_of
from flowsweep.lab.guard import LAB_VARIABLE, NAMESPACES
from flowsweep.lab.owner import Owner
from flowsweep.lab.topology import EmulatedLink

READ_BYTES = 1 << 16
REASON_LONGEST = 500


class Emulator:
    """One emulated link while it stands. It ends with its standard input, and so with the controller."""

    def __init__(self, layout: EmulatedLink, campaign_seed: int, owner: Owner) -> None:
        """Start the process and ask for the link.

        Raises:
            LaunchError: This installation has no engine.
        """
        self.layout = layout
        self.log = CounterLog()
        self._failure: str | None = None
        self._process = subprocess.Popen(
            [engine_path(), "emulate"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C is for the controller, which takes the lab down in order.
            start_new_session=True,
            env={**os.environ, LAB_VARIABLE: owner.mark},
        )
        self._reader = threading.Thread(target=self._listen, name=f"link-{layout.link.name}", daemon=True)
        self._reader.start()
        request = emulation(layout, seed_of(campaign_seed, layout.link.name), NAMESPACES)
        if self._process.stdin is not None:
            # One that is gone already says why on its standard output.
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def wait_ready(self) -> None:
        """Wait until both devices are there, down and without addresses.

        Raises:
            LabError: It could not make them, or said nothing in time.
        """
        timeout_s = defaults.LAB_EMULATOR_READY_TIMEOUT_S
        if not self.log.wait_ready(timeout_s):
            reason = self.log.lost or f"the emulator was not ready within {timeout_s:g} s"
            raise LabError(f"link {self.layout.link.name} cannot be emulated: {reason}")

    def end(self) -> None:
        """End the process, in order or, if it stays, by force; its devices go with it."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._wait_or_kill()
        self._reader.join(defaults.LAB_EMULATOR_END_TIMEOUT_S)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None and not self._reader.is_alive():
                pipe.close()

    def _listen(self) -> None:
        """Read until the end, which nobody who took the link down asks about any more."""
        for line in self._lines():
            if line is None:
                self.log.lose(self._silence())
                return
            try:
                self._take(line)
            except (ValueError, KeyError, TypeError):
                said = line[:REASON_LONGEST].decode(errors="replace")
                self.log.lose(f"expected a line of schema/emulation.json, the emulator said: {said}")
                return
        self.log.lose(self._ending())

    def _lines(self) -> Iterator[bytes | None]:
        """Each line as it comes; None if nothing came for too long."""
        if self._process.stdout is None:
            return
        descriptor = self._process.stdout.fileno()
        rest = b""
        with selectors.DefaultSelector() as waiting:
            waiting.register(descriptor, selectors.EVENT_READ)
            while True:
                if not waiting.select(defaults.LAB_EMULATOR_SILENCE_S):
                    yield None
                    return
                read = os.read(descriptor, READ_BYTES)
                if not read:
                    return
                *lines, rest = (rest + read).split(b"\n")
                yield from lines

    def _take(self, line: bytes) -> None:
        event = cast("dict[str, Any]", parse_json(line))
        match event["type"]:
            case "ready":
                self.log.ready()
            case "counters":
                paths = (
                    (forward, backward) for forward, backward in (event["directions"], *event["further"])
                )
                self.log.add(Counters(event["at_unix_ns"], tuple(paths)))
            case "failed":
                self._failure = event["message"]

    def _silence(self) -> str:
        return f"the emulator said nothing for {defaults.LAB_EMULATOR_SILENCE_S:g} s"

    def _ending(self) -> str:
        status = self._wait_or_kill()
        if self._failure is not None:
            return self._failure
        if status < 0:
            return f"the emulator was ended by {signal.Signals(-status).name}"
        said = b"" if self._process.stderr is None else self._process.stderr.read(REASON_LONGEST)
        complaint = " ".join(said.decode(errors="replace").split())
        return f"the emulator ended with exit status {status}" + (f": {complaint}" if complaint else "")

    def _wait_or_kill(self) -> int:
        try:
            return self._process.wait(defaults.LAB_EMULATOR_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait(defaults.LAB_EMULATOR_END_TIMEOUT_S)
