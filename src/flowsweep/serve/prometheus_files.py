"""Files for Prometheus and Grafana that come with Flowsweep."""

from importlib.resources import files
from pathlib import Path

from flowsweep.errors import ServeError
from flowsweep.whole_file import whole_file

FILES = ("flowsweep-rules.yml", "flowsweep-dashboard.json")


def write_rules(folder: Path) -> list[Path]:
    """Write the files into a folder, which is made; older ones of the same names are replaced.

    Prometheus may read them at any time: each is there completely or as it was.

    Raises:
        ServeError: They cannot be written there.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            with whole_file(folder / name) as unfinished:
                unfinished.write_bytes(files("flowsweep.serve").joinpath("prometheus", name).read_bytes())
            written.append(folder / name)
    except OSError as error:
        raise ServeError(f"--write-rules: {folder}: {error.strerror}") from error
    return written
