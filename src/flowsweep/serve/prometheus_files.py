"""Files for Prometheus and Grafana that come with Flowsweep."""

from importlib.resources import files
from pathlib import Path

from flowsweep.errors import ServeError

FILES = ("flowsweep-rules.yml", "flowsweep-dashboard.json")


def write_rules(folder: Path) -> list[Path]:
    """Write the files into a folder, which is made; older ones of the same names are replaced.

    Raises:
        ServeError: They cannot be written there.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            target = folder / name
            target.write_bytes(files("flowsweep.serve").joinpath("prometheus", name).read_bytes())
            written.append(target)
    except OSError as error:
        raise ServeError(f"--write-rules: {error.filename or folder}: {error.strerror}") from error
    return written
