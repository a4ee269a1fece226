"""The controller's side of its guard: started before the lab, replaced if it is killed, let go last."""

import contextlib
import subprocess
import sys
import threading

from flowsweep.defaults import LAB_GUARD_END_TIMEOUT_S
from flowsweep.lab import guard
from flowsweep.lab.command import path_of
from flowsweep.lab.owner import Owner


class Guard:
    """A process that ends one lab of this controller should this not do it, as after SIGKILL."""

    def __init__(self, owner: Owner) -> None:
        """Start it.

        Raises:
            LabError: `ip` is not installed.
        """
        # Without its user's settings and packages (-I, -S), so that it starts at once.
        self._command = (
            *(sys.executable, "-I", "-S", guard.__file__),
            *(owner.mark, owner.process.mark, path_of("ip")),
        )
        self._lock = threading.Lock()
        self._ending = False
        self._process = self._start()
        self._watcher = threading.Thread(target=self._replace_killed, name="lab-guard", daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def end(self, *, taken_down: bool) -> None:
        """Let it go, and wait until it is gone; unless the lab has been taken down, it does that first."""
        with self._lock:
            self._ending = True
            process = self._process
        # Somebody may just have killed it; one that has much to end goes on by itself.
        with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            process.communicate(guard.DONE if taken_down else guard.NOT_DONE, LAB_GUARD_END_TIMEOUT_S)
        self._watcher.join(LAB_GUARD_END_TIMEOUT_S)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # It keeps no folder busy, and Ctrl-C is for the controller.
            cwd="/",
            start_new_session=True,
        )

    def _replace_killed(self) -> None:
        """Start another one whenever it is killed; one that ends by itself cannot live here at all."""
        while self._process.wait() < 0:
            with self._lock:
                if self._ending:
                    return
                if self._process.stdin is not None:
                    self._process.stdin.close()
                self._process = self._start()
