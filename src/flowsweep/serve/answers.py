"""Answers for programs: JSON for the pages' own scripts, events, metrics, health."""

import json
import threading
import time
from collections.abc import Sequence
from typing import Any

from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from flowsweep.serve.asked import Span, asked_campaign, asked_quantity, asked_span, latest_end, path_in
from flowsweep.serve.campaign import CampaignModel
from flowsweep.serve.changes import Changes, SeriesLookedAt
from flowsweep.serve.events import Broadcaster
from flowsweep.serve.metrics import registry
from flowsweep.serve.overview import names_of_points
from flowsweep.serve.points import point_ranks
from flowsweep.serve.quantities import BY_KEY, QUANTITIES
from flowsweep.serve.results import results
from flowsweep.serve.rows import Rows
from flowsweep.serve.series import as_json, failed, failures, lines
from flowsweep.serve.trials import missed_between
from flowsweep.serve.watch import Watched, Watcher

_FRESH_S = 2.0
"""An overview in which nothing happened is made anew after this: paths grow overdue."""
_SHOWN_MAX = 500
"""Notes, and times that were missed, in one answer."""


class Answers:
    """Made of what the watcher has read so far."""

    def __init__(self, watched: Sequence[Watched], watcher: Watcher, broadcaster: Broadcaster) -> None:
        self._watched = watched
        self._watcher = watcher
        self._broadcaster = broadcaster
        self._made: tuple[tuple[tuple[int, int], ...], float, bytes] | None = None
        self._making = threading.Lock()
        self._changes = Changes()
        self._registry = registry(
            watched,
            is_alive=lambda: watcher.is_alive,
            listeners=lambda: broadcaster.listeners,
        )

    def overview(self, _: Request) -> Response:
        """All campaigns with the last values of their paths."""
        with self._making:
            shown = [one for one in self._watched if not one.model.is_gone]
            versions = tuple((one.number, one.model.version) for one in shown)
            made = self._made
            if made is None or made[0] != versions or time.monotonic() - made[1] > _FRESH_S:
                made = self._made = (versions, time.monotonic(), _overview(shown))
        return Response(made[2], media_type="application/json")

    def live(self, _: Request) -> Response:
        """What trials that run say so far: by campaign and trial, seconds and bits per second."""
        found = {}
        for one in self._watched:
            if one.model.is_gone:
                continue
            with one.lock:
                model = one.model
                running = model.running if model.has_writer else {}
                found[model.address] = {
                    name: points for name, points in model.live.items() if name in running
                }
        return _json({"campaigns": found})

    def series(self, request: Request) -> Response:
        """A quantity of a path over a span of time."""
        query = request.query_params
        watched = asked_campaign(query, self._watched)
        model = watched.model
        with watched.lock:
            asked = path_in(watched, query)
            show = asked_quantity(query, asked.state)
            span, latest = asked_span(query, asked), latest_end(asked)
            rows = asked.state.rows.between(span.begin, span.end).copy()
            names, ranks = names_of_points(asked.state), point_ranks(list(asked.state.points))
            told = results(asked.state, rows)
            kept = asked.state.rows.rows
            first = float(kept["began"][0]) if len(kept) else None
            last = float(kept["began"][-1]) if len(kept) else None
            offered = [
                one.key for one in QUANTITIES if asked.state.rows.last(with_value_of=one.key) is not None
            ]
            quantity = BY_KEY[show]
            way = asked.key._asdict()
            running = [one for one in watched.overview.running() if {name: one[name] for name in way} == way]
            waiting = _waiting(model, rows)
            looked_at = SeriesLookedAt.of(watched.number, model, asked.key, quantity)
        found = lines(told, show, len(names))
        marks = self._changes.within(looked_at, span)
        return _json(
            {
                "show": show,
                "title": quantity.title,
                "unit": quantity.unit,
                "band": quantity.band_words,
                "offered": offered,
                "from": span.begin,
                "to": span.end,
                "first": first,
                "last": last,
                "latest_end": latest,
                "now": round(time.time(), 3),
                "trials": len(rows),
                "names": names,
                "ranks": ranks,
                "lines": as_json(found),
                "failures": failures(rows),
                "failed": failed(rows),
                "waiting": waiting,
                "running": running,
                "changes": marks or [],
                "looks_for_changes": marks is None,
                **_beside(watched, asked.key.sweep, span),
            }
        )

    async def events(self, _: Request) -> Response:
        """Tell a page at once when a trial began or was settled."""
        if self._broadcaster.is_full:
            return PlainTextResponse("Too many pages listen.\n", 503, {"retry-after": "30"})
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._broadcaster.stream(), media_type="text/event-stream", headers=headers)

    def metrics(self, request: Request) -> Response:
        """What Prometheus scrapes: OpenMetrics if it asks for that."""
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(self._registry), headers={"content-type": content_type})

    def health(self, _: Request) -> Response:
        """Whether archives are read; nothing of what is in them."""
        counts = (one for one in self._watched if one.model.counts)
        well = self._watcher.is_alive and all(one.trouble is None for one in counts)
        return PlainTextResponse(
            "ok\n" if well else "not well: see flowsweep_archive_readable\n", 200 if well else 503
        )


def _overview(shown: Sequence[Watched]) -> bytes:
    found = []
    for one in shown:
        campaign = one.overview.without_paths()
        with one.shown_in("overview"):
            whole = one.overview.campaign()
            _bytes(whole)  # it can be said as JSON, or is this archive's trouble
            campaign = whole
        found.append(
            campaign
            | {
                "problem": one.trouble,
                "not_summed": one.not_summed,
                "not_summed_now": one.not_summed_now,
            }
        )
    return _bytes({"now": round(time.time(), 3), "campaigns": found})


def _waiting(model: CampaignModel, rows: Rows) -> int:
    """How many of some trials are still to be summed up."""
    unknown = rows[~rows["summed"]]
    trials, attempts = unknown["trial"].tolist(), unknown["attempt"].tolist()
    return sum(one in model.pending for one in zip(trials, attempts, strict=True))


def _beside(watched: Watched, sweep: str, span: Span) -> dict[str, Any]:
    """What happened meanwhile beside the trials."""
    missed = [
        {
            "from": one.first_due.timestamp(),
            "to": one.last_due.timestamp(),
            "count": one.count,
            "reason": one.reason,
        }
        for one in missed_between(watched, span.begin, span.end, sweep)
    ]
    notes = [
        {"at": note.at.timestamp(), "text": note.text}
        for note in watched.model.notes
        if span.begin <= note.at.timestamp() < span.end
    ]
    return {"missed": missed[-_SHOWN_MAX:], "notes": notes[-_SHOWN_MAX:]}


def _json(found: dict[str, Any]) -> Response:
    return Response(_bytes(found), media_type="application/json")


def _bytes(found: dict[str, Any]) -> bytes:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
