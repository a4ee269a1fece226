"""What Prometheus scrapes: the last values of each path, their age, what was missed, the service itself."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from flowsweep.serve.campaign import PathKey, PathState
from flowsweep.serve.overview import last_of_points, names_of_points
from flowsweep.serve.quantities import QUANTITIES
from flowsweep.serve.results import last_results
from flowsweep.serve.rows import STATUSES, Rows
from flowsweep.serve.watch import Watched
from flowsweep.version import __version__

POINTS_MAX = 64
"""Points of a path that have time series of their own; a database is not to be flooded."""
_GOODPUT = "goodput"
_OF_TWO = "flowsweep_goodput_highest_of_two_bits_per_second"
_PATH = ("campaign", "sweep", "src", "dst")


def registry(
    watched: Sequence[Watched],
    *,
    is_alive: Callable[[], bool],
    listeners: Callable[[], int],
) -> CollectorRegistry:
    """Make what writes the metrics of campaigns, anew at each scrape."""
    made = CollectorRegistry(auto_describe=False)
    made.register(_Campaigns(watched, is_alive, listeners))
    return made


class _Campaigns(Collector):
    def __init__(
        self,
        watched: Sequence[Watched],
        is_alive: Callable[[], bool],
        listeners: Callable[[], int],
    ) -> None:
        self._watched = watched
        self._is_alive, self._listeners = is_alive, listeners

    @property
    def _measured(self) -> Iterable[Watched]:
        """Without what goes on in another archive, or is one: of it nothing is to be told for ever."""
        return (one for one in self._watched if one.model.counts)

    def collect(self) -> Iterable[Metric]:
        """All metrics now."""
        yield from self._service()
        yield from self._trials()
        yield from self._values()
        yield from self._paths()

    def _service(self) -> Iterator[Metric]:
        yield InfoMetricFamily("flowsweep_build", "The Flowsweep that serves.", {"version": __version__})
        yield GaugeMetricFamily(
            "flowsweep_serve_healthy", "1 while the service reads archives, else 0.", float(self._is_alive())
        )
        yield GaugeMetricFamily(
            "flowsweep_serve_listeners", "Pages that are told of trials at once.", float(self._listeners())
        )
        readable = GaugeMetricFamily(
            "flowsweep_archive_readable", "1 if the archive could be read the last time, else 0.",
            labels=("campaign",),
        )  # fmt: skip
        read_at = GaugeMetricFamily(
            "flowsweep_archive_read_timestamp_seconds", "When it was read to its end.", labels=("campaign",)
        )
        runs = GaugeMetricFamily(
            "flowsweep_campaign_running", "1 while a process measures this campaign, else 0.",
            labels=("campaign",),
        )  # fmt: skip
        waiting = GaugeMetricFamily(
            "flowsweep_trials_waiting",
            "Trials that are recorded and not summed up yet.",
            labels=("campaign",),
        )
        for one in self._measured:
            name = [one.model.name]
            readable.add_metric(name, float(one.trouble is None))
            if one.read_at is not None:
                read_at.add_metric(name, one.read_at)
                runs.add_metric(name, float(one.model.has_writer))
            waiting.add_metric(name, len(one.model.pending))
        yield from (readable, read_at, runs, waiting)

    def _trials(self) -> Iterator[Metric]:
        trials = CounterMetricFamily(
            "flowsweep_trials", "Attempts at trials that ended, by what came of them.",
            labels=("campaign", "status"),
        )  # fmt: skip
        missed = CounterMetricFamily(
            "flowsweep_slots_missed", "Times at which a sweep was due and did not run, or not all of it.",
            labels=("campaign", "sweep"),
        )  # fmt: skip
        for one in self._measured:
            with one.shown_in("counters"):
                if one.read_at is None:  # A counter that begins anew with each start looks as if it rose.
                    continue
                counts = {key.sweep: 0 for key in one.model.paths}
                for ranges in one.model.missed:
                    counts[ranges.sweep] = counts.get(ranges.sweep, 0) + ranges.count
                for status in STATUSES[:3]:
                    trials.add_metric([one.model.name, status], float(one.model.statuses.get(status, 0)))
                for sweep, count in counts.items():
                    missed.add_metric([one.model.name, sweep], float(count))
        yield from (trials, missed)

    def _values(self) -> Iterator[Metric]:
        families = {
            quantity.key: GaugeMetricFamily(quantity.metric, quantity.help, labels=(*_PATH, "point"))
            for quantity in QUANTITIES
        }
        families[_OF_TWO] = GaugeMetricFamily(
            _OF_TWO, "The higher goodput of the last two trials that went well.", labels=(*_PATH, "point")
        )
        for one in self._measured:
            with one.shown_in("values"):
                for key, state in one.model.paths.items() if one.read_at is not None else ():
                    _add_values(families, one.model.name, key, state)
        yield from families.values()

    def _paths(self) -> Iterator[Metric]:
        age = GaugeMetricFamily(
            "flowsweep_path_age_seconds", "Since the last trial that went well began.", labels=_PATH
        )
        last = GaugeMetricFamily(
            "flowsweep_path_last_success_timestamp_seconds", "When that trial began.", labels=_PATH
        )
        overdue = GaugeMetricFamily(
            "flowsweep_path_overdue", "1 if the path was due more than once since it was measured, else 0.",
            labels=_PATH,
        )  # fmt: skip
        failed = GaugeMetricFamily(
            "flowsweep_path_failed", "1 if the last trial did not go well, else 0.", labels=_PATH
        )
        verdict = GaugeMetricFamily(
            "flowsweep_path_verdict",
            "What limited the trial whose goodput is shown, of several points the highest, or else the last "
            "trial: always 1, the label says it.",
            labels=(*_PATH, "verdict"),
        )
        now = time.time()
        for one in self._measured:
            found: list[dict[str, Any]] = []
            with one.shown_in("paths"):
                found = list(one.overview.paths()) if one.read_at is not None else []
            for path in found:
                labels = [one.model.name, path["sweep"], path["src"], path["dst"]]
                overdue.add_metric(labels, float(path["overdue"]))
                if path["good"] is not None:
                    age.add_metric(labels, max(0.0, now - path["good"]))
                    last.add_metric(labels, path["good"])
                if path["status"] is not None:
                    failed.add_metric(labels, float(path["status"] != "ok"))
                if path["verdict"] is not None:
                    verdict.add_metric([*labels, path["verdict"]], 1.0)
        yield from (age, last, overdue, failed, verdict)


def _add_values(
    families: dict[str, GaugeMetricFamily], campaign: str, key: PathKey, state: PathState
) -> None:
    good = last_results(state)
    names: list[str] | None = None
    for quantity in QUANTITIES:
        for point, row in list(last_of_points(good, quantity).items())[:POINTS_MAX]:
            names = names_of_points(state) if names is None else names
            value = float(row[quantity.key][0])
            if not np.isnan(value):
                families[quantity.key].add_metric([campaign, *key, names[point]], value)
            if quantity.key == _GOODPUT and (highest := _highest_of_two(good, point)) is not None:
                families[_OF_TWO].add_metric([campaign, *key, names[point]], highest)


def _highest_of_two(good: Rows, point: int) -> float | None:
    """The higher goodput of a point's last two trials that have one; None where there are no two."""
    values = good[_GOODPUT][good["point"] == point, 0]
    known = values[~np.isnan(values)]
    return float(known[-2:].max()) if len(known) > 1 else None
