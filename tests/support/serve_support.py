"""Archives served for tests: by the real server, on a port of its own."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import numpy as np

from flowsweep.archive import create_archive
from flowsweep.serve.campaign import PathKey, PathState
from flowsweep.serve.points import point_of
from flowsweep.serve.rows import ROW, PathRows
from flowsweep.serve.server import Address, listening_socket, make_server
from flowsweep.serve.watch import Watched
from waiting import wait_until


@dataclass
class Served:
    """A server that answers."""

    port: int
    watched: Sequence[Watched]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, path: str, *, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[HTTPResponse, str]:
        """Answer of a request; names of headers have _ for -."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body=body, headers=named)
            answer = connection.getresponse()
            return answer, answer.read().decode()
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        answer, text = self.ask(path)
        assert answer.status == 200, text
        return json.loads(text)

    def wait_for_summaries(self) -> None:
        wait_until(lambda: all(one.read_at and not one.model.pending for one in self.watched), timeout_s=120)

    def wait_for_live(self, trial_id: str) -> None:
        wait_until(lambda: any(trial_id in one.model.live for one in self.watched), timeout_s=30)
        wait_until(lambda: all(one.model.has_writer for one in self.watched), timeout_s=30)


@contextmanager
def served(
    *folders: Path,
    watched: Sequence[Watched] | None = None,
    token: str | None = None,
    names: Sequence[str] = (),
) -> Iterator[Served]:
    """Serve archives until the block ends."""
    watched = watched or [Watched(number, folder) for number, folder in enumerate(folders)]
    opened = listening_socket(Address("127.0.0.1", 0), token)
    ready = threading.Event()
    server = make_server(watched, opened, names=names, token=token, ready=ready.set)
    thread = threading.Thread(target=server.serve_until_signal, daemon=True)
    thread.start()
    try:
        assert ready.wait(60)
        yield Served(opened.getsockname()[1], watched)
    finally:
        server.end()
        thread.join(30)
        opened.close()
    assert not thread.is_alive()


def big_campaign(folder: Path, *, paths: int, trials_each: int, end: float, every_s: float) -> Watched:
    """An archive whose journal is empty, and a model that has read very many trials, made up."""
    create_archive(folder, plan_json="{}", seed=1).close()
    watched = Watched(0, folder)
    generator = np.random.default_rng(1)
    for number in range(paths):
        rows = np.zeros(trials_each, ROW)
        rows["began"] = end - every_s * np.arange(trials_each)[::-1] - number
        rows["trial"] = np.arange(trials_each) + number * trials_each
        rows["attempt"], rows["verdict"], rows["summed"] = 1, -1, True
        for name, level in (("goodput", 9e8), ("rtt", 0.02), ("loss", 1e-4)):
            middle = level * np.exp(generator.normal(0, 0.05, trials_each))
            rows[name] = np.stack([middle, middle * 0.95, middle * 1.05], axis=1)
        rows["capacity"] = np.nan
        src, dst = f"host-{number // 8:02}", f"host-{20 + number % 8:02}"
        state = PathState(PathRows(rows), {point_of({}): 0}, test="tcp", version=1)
        watched.model.paths[PathKey("mesh", src, dst)] = state
        watched.model.statuses["ok"] += trials_each
    return watched


def forget_answers(watched: Watched) -> None:
    """Have all answers made anew, as if every path had changed."""
    watched.model.version += 1
    for state in watched.model.paths.values():
        state.version += 1


def with_a_change(route: Any) -> None:
    """The answer, with a change of the level: one is found in days, of which this mesh has not enough."""
    answer = route.fetch()
    found = answer.json()
    change = {"at": (found["first"] + found["last"]) / 2, "point": 0, "was": 9e7, "now": 7e7, "better": False}
    route.fulfill(response=answer, json=found | {"changes": [change | {"until": found["last"]}]})
