"""A line for every run, with the time that is left."""

import time


class Progress:
    """Tells on the terminal how far the benchmark is."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._done_s = 0.0
        self._left_s = 0.0

    @property
    def elapsed_s(self) -> float:
        """Since the benchmark began."""
        return time.monotonic() - self._began_s

    def expect(self, sending_s: float) -> None:
        """So much sending is still to come."""
        self._left_s = sending_s

    def done(self, sending_s: float, what: str, goodput_bps: float, cpu_s_per_gb: float) -> None:
        """A run went well."""
        self._tell(sending_s, f"{what}  {goodput_bps / 1e9:.1f} Gbit/s  {cpu_s_per_gb:.3f} CPU s/GB")

    def failed(self, what: str, error: Exception) -> None:
        """A run failed."""
        self._tell(0.0, f"{what}  FAILED: {error}")

    def _tell(self, sending_s: float, line: str) -> None:
        self._done_s += sending_s
        self._left_s = max(0.0, self._left_s - sending_s)
        # Runs take longer than they send: how much is learnt from those that are done.
        pace = self.elapsed_s / self._done_s if self._done_s else 1.0
        left_s = round(self._left_s * pace)
        print(f"[{left_s // 60:2d}:{left_s % 60:02d} left]  {line}", flush=True)
