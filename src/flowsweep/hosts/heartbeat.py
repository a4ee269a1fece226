"""Tells an engine that its controller is still there, whatever keeps the event loop busy.

An engine that hears nothing for long ends its traffic (`alive` in schema/messages.json). A loop may be held
up for longer than that: by a terminal that was stopped (Ctrl-S), or a large table. So a thread says it.
"""

import asyncio
import os
import threading

from flowsweep.defaults import HEARTBEAT_S
from flowsweep.hosts.frames import Frame, FrameKind, encode
from flowsweep.hosts.messages import Alive

_ALIVE = encode(Frame(FrameKind.JSON, Alive().model_dump_json().encode()))


class Heartbeat:
    """Writes to a process's standard input, beside whoever else writes there, all of them by `write`."""

    def __init__(self, stdin: asyncio.StreamWriter) -> None:
        self._stdin = stdin
        self._lock = threading.Lock()
        self._ended = threading.Event()
        # A copy: the loop may close the original at any time, and its number be another file's then.
        # An engine that ended at once has left none.
        pipe = stdin.get_extra_info("pipe")
        self._pipe = None if pipe is None or pipe.closed else os.dup(pipe.fileno())
        self._sent_once = False

    def start(self) -> None:
        """Say it every few seconds from now on, until `end`."""
        threading.Thread(target=self._go_on, name="heartbeat", daemon=True).start()

    def write(self, frame: bytes, *, heard: bool = False) -> None:
        """Write a frame whole, as `asyncio.StreamWriter.write` does.

        Args:
            frame: what to write.
            heard: whether the engine has to hear before that somebody is there, once.
        """
        with self._lock:
            first = heard and not self._sent_once
            self._sent_once = self._sent_once or heard
            self._stdin.write(_ALIVE + frame if first else frame)

    def end(self) -> None:
        """Say nothing more, and let go of the pipe, which the engine sees closed only then."""
        self._ended.set()
        with self._lock:
            if self._pipe is not None:
                os.close(self._pipe)
                self._pipe = None

    def _go_on(self) -> None:
        while not self._ended.wait(HEARTBEAT_S):
            with self._lock:
                # What waits in the loop's buffer goes first, or a frame would be cut in two; an engine that
                # does not read it would not read this.
                if self._pipe is None or self._stdin.transport.get_write_buffer_size():
                    continue
                try:
                    # Shorter than what the kernel writes whole or not at all.
                    os.write(self._pipe, _ALIVE)
                    self._sent_once = True
                except BlockingIOError:
                    continue
                except OSError:
                    return
