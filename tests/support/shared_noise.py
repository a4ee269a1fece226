"""Campaigns whose trials run at the same times are held against the same noise: it is drawn once.

Thousands of synthetic campaigns are judged in minutes so, and each as it would be alone: what is kept are the
models of noise, where it is white, and the statistics of what was drawn with the fixed seed, none of which
depends on what goodput was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from unittest import mock

import numpy as np

from flowsweep.analysis.findings import topics
from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.likelihood_ratio import CourseTest
from flowsweep.analysis.statistics.red_noise import NoiseModels, drawn, noise_models
from flowsweep.analysis.statistics.simulated import ENOUGH, FIRST, SEED, SIMULATED

_whitened_alone: Any = vars(CourseTest)["_whitened"]
assert isinstance(_whitened_alone, cached_property)


MOST = 40
"""Campaigns with times of their own that are kept, and tests of courses; of each some megabytes."""
MANY = 2_000
"""Tests whose statistics of noise are kept; of each some kilobytes."""


@contextmanager
def shared_noise() -> Iterator[None]:
    """Keep what depends on the times of trials alone, while the block runs."""
    kept = _Kept()

    def drawn_once(test: CourseTest, null: int, statistic: float) -> Any:
        return kept.drawn(test, null, statistic)

    with (
        mock.patch.object(topics, "noise_models", kept.models),
        mock.patch.object(CourseTest, "_whitened", property(kept.whitened)),
        mock.patch.object(CourseTest, "_drawn", drawn_once),
    ):
        yield


class _Kept:
    """What was computed, by what it depends on. All of it is let go where campaigns do not come again."""

    def __init__(self) -> None:
        self._models: dict[Any, NoiseModels] = {}
        self._whitened: dict[Any, Any] = {}
        self._drawn: dict[Any, tuple[Any, np.random.Generator]] = {}

    def _let_go(self) -> None:
        for kept in (self._models, self._whitened, self._drawn):
            kept.clear()

    def models(self, series: CampaignSeries) -> NoiseModels:
        times = (series.starts_s, series.contrasts, *series.groups)
        key = tuple(each.tobytes() for each in times)
        if key not in self._models:
            if len(self._models) >= MOST:
                self._let_go()
            self._models[key] = noise_models(series)
        return self._models[key]

    def whitened(self, test: CourseTest) -> Any:
        key = _key(test)
        if key not in self._whitened:
            if len(self._whitened) >= MOST:
                self._whitened.clear()
            self._whitened[key] = _whitened_alone.func(test)
        return self._whitened[key]

    def drawn(self, test: CourseTest, null: int, statistic: float) -> Any:
        key = (*_key(test), test.lasting, null)
        if key not in self._drawn:
            if len(self._drawn) >= MANY:
                self._drawn.clear()
            generator = np.random.default_rng(SEED)
            self._drawn[key] = test._statistics(drawn(test.models, null, generator, FIRST)), generator
        draws, generator = self._drawn[key]
        if len(draws) > FIRST and int((draws[:FIRST] >= statistic).sum()) >= ENOUGH:
            return draws[:FIRST]
        if len(draws) == FIRST and int((draws >= statistic).sum()) < ENOUGH:
            more = test._statistics(drawn(test.models, null, generator, SIMULATED - FIRST))
            draws = np.concatenate([draws, more])
            self._drawn[key] = draws, generator
        return draws


def _key(test: CourseTest) -> tuple[int, bytes, bytes]:
    """The models are kept, so that no two have the same id."""
    return id(test.models), test.courses.tobytes(), test.beside.tobytes()
