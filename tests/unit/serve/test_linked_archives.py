"""Links among archives that lead elsewhere while they are served."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from prometheus_client import generate_latest

from flowsweep.campaigns.succession import Begun
from flowsweep.serve.metrics import registry
from flowsweep.serve.names import names_apart
from flowsweep.serve.server import look_for_more, watched_in
from flowsweep.serve.watch import Watched, Watcher
from mesh_support import begin_mesh, mesh_plan

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PATIENCE_S = 20


def in_time(look: object) -> None:
    """Let something end; it may have been without an end."""
    assert callable(look)
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def lead(link: Path, to: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(to)


def look(base: Path, watched: list[Watched]) -> list[tuple[str, str]]:
    """Where those lie that are shown, and what they are called."""
    watcher = Watcher(watched, lambda *_: None)
    for _ in range(2):
        for one in watched:
            watcher._look_at(one)
        in_time(lambda: look_for_more([base], watched))
    return [(one.folder.path.name, one.model.name) for one in watched if not one.model.is_gone]


def test_a_link_that_leads_to_another_archive_now_is_that_one(tmp_path: Path) -> None:
    runs = [tmp_path / f"run{number}" for number in (1, 2)]
    for number, folder in enumerate(runs):
        begin_mesh(folder, mesh_plan(), AT + timedelta(days=number)).close()
    base = tmp_path.name
    lead(tmp_path / "current", runs[0])
    watched = watched_in([tmp_path])
    assert look(tmp_path, watched) == [("current", f"{base}/run1"), ("run2", f"{base}/run2")]
    lead(tmp_path / "current", runs[1])
    assert look(tmp_path, watched) == [("current", f"{base}/run2"), ("run1", f"{base}/run1")]
    text = generate_latest(registry(watched, is_alive=lambda: True, listeners=lambda: 0)).decode()
    assert text.count("flowsweep_archive_readable{") == 2
    assert len({one.model.address for one in watched if not one.model.is_gone}) == 2
    lead(tmp_path / "current", runs[0])
    assert look(tmp_path, watched) == [("current", f"{base}/run1"), ("run2", f"{base}/run2")]


def test_names_of_one_place_end(tmp_path: Path) -> None:
    twice = [Begun(tmp_path / "run", "mesh", None, is_there=True)] * 2
    in_time(lambda: names_apart(twice))
