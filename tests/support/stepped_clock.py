"""A wall clock that steps, of one program and those it starts; their other clocks are the machine's."""

import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
SECONDS = struct.Struct("l")


class SteppedClock:
    """Programs started with its `environment` have it. What is linked statically, as an engine, has not."""

    def __init__(self, folder: Path) -> None:
        library = folder / "stepped_clock.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True, timeout=60
        )
        self._file = folder / "ahead"
        self._file.write_bytes(SECONDS.pack(0))
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(self._file)}

    def set_ahead(self, seconds: int) -> None:
        """Set it to so many seconds ahead of the machine's."""
        with self._file.open("r+b") as file:
            file.write(SECONDS.pack(seconds))
