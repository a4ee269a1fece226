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
    path, written = folder, []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            path = folder / name
            _replace(path, files("flowsweep.serve").joinpath("prometheus", name).read_bytes())
            written.append(path)
    except OSError as error:
        raise ServeError(f"--write-rules: {path}: {error.strerror}") from error
    return written


def _replace(path: Path, content: bytes) -> None:
    """Replace a file; the one that a link names, and who may read it stays."""
    with whole_file(path.resolve()) as unfinished:
        unfinished.write_bytes(content)
