"""Flows on a path with one queue, round trip by round trip, many settings at once.

What flies beyond rate × round trip waits in the queue, and what the queue cannot hold is lost: windows are
slow, queues are fast, so that queue and round trip follow from the windows of the moment. Losses are drawn,
since flows that lose at different moments fill a link better than their mean would.
How it works, and how far from measurements it is: docs/explanation/prediction.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from flowsweep.prediction.congestion import LAWS, Array, Law, Mask, Step
from flowsweep.prediction.setting import FlowSetting, Limit, Prediction

Place = NDArray[np.int64]

RUNS = 2
"""Of a setting with one flow that loses nothing at random: its runs hardly differ."""
RUNS_LEAST, FLOWS_DRAWN = 4, 24
"""Of others, where it is drawn which flow loses when: runs, and flows of all runs together."""
STEPS = 500
"""In the time of a trial: a step is a round trip, or several where that would be more."""
ROUNDS_MOST = 4
"""Of a step: a window that shrinks once in many round trips is another one."""
STEPS_MOST = 1_000
"""Then the rest of the time is taken to be like the second half of what was modelled."""
FLOWS = 8
"""Modelled one by one; of more each stands for several."""
BURST_S = 0.0012
"""What a flow sends at once: Linux waits for room for what 1 ms holds (`tcp_tso_autosize`)."""
BURST_PACKETS = 5
"""That much at least."""
NEAR = 0.95
"""Of a bound: what reaches that share of it is held back by it."""


def predicted(settings: Sequence[FlowSetting], *, seed: int = 0) -> list[Prediction]:
    """Predict the goodput of settings.

    Args:
        settings: Each with a congestion control of `LAWS`.
        seed: Of what is drawn: the same settings give the same predictions.

    Returns:
        One prediction for each.
    """
    found: dict[int, Prediction] = {}
    for members in _alike(settings):
        runs = _Runs([settings[member] for member in members], seed)
        found.update(zip(members, runs.predictions(), strict=True))
    return [found[place] for place in range(len(settings))]


def _alike(settings: Sequence[FlowSetting]) -> Iterator[list[int]]:
    """Places of settings that fit into the same arrays."""
    groups: dict[tuple[str, int], list[int]] = {}
    for place, setting in enumerate(settings):
        groups.setdefault((setting.congestion, _width(setting)), []).append(place)
    yield from groups.values()


@dataclass(slots=True)
class _State:
    """Arrays of runs, those of flows with an axis of flows before: what is given, and where the runs are."""

    place: Place
    """Of the run among all."""
    run: Place
    """Of the run among those of its setting."""
    rate_per_s: Array
    """Segments that the bottleneck carries."""
    rtt_min_s: Array
    burst_s: Array
    burst: Array
    """Segments that a flow sends at once, where flows share the bottleneck evenly."""
    room: Array
    """Segments that the queue holds."""
    loss: Array
    ends_s: Array
    omit_s: Array
    flows: Array
    stands_for: Array
    """Flows for each that is modelled."""
    present: Mask
    most: Array
    """Segments that windows let fly."""
    offered_per_s: Array
    """Segments that the application sends."""
    at_s: Array
    unrepaired: Array
    """Segments that were sent since a loss, which is not repaired yet."""
    flew: Array
    """Segments that flew a step ago."""

    def kept(self, runs: Mask) -> "_State":
        """The same without runs that are over."""
        return _State(**{field.name: getattr(self, field.name)[..., runs] for field in fields(self)})


def _state(settings: Sequence[FlowSetting], counts: Sequence[int]) -> _State:
    """Repeat what each setting has for each of its runs."""

    def each(value: Callable[[FlowSetting], float]) -> Array:
        return np.repeat(np.asarray([value(setting) for setting in settings], dtype=np.float64), counts)

    rate_per_s = each(lambda setting: setting.path.rate_bps / 8 / setting.path.packet_bytes)
    burst_s = each(_burst_s)
    room = each(lambda setting: max(setting.path.queue_bytes / setting.path.packet_bytes, 1))
    flows = each(lambda setting: setting.flows)
    modelled = np.minimum(flows, FLOWS)
    present = np.arange(_width(settings[0]))[:, None] < modelled
    return _State(
        place=np.arange(len(flows)),
        run=np.concatenate([np.arange(count) for count in counts]),
        rate_per_s=rate_per_s,
        rtt_min_s=each(lambda setting: setting.path.rtt_s + setting.path.packet_s),
        burst_s=burst_s,
        burst=np.minimum(burst_s * rate_per_s / flows, room - 1),
        room=room,
        loss=each(lambda setting: setting.path.loss),
        ends_s=each(lambda setting: setting.duration_s),
        omit_s=each(lambda setting: setting.omit_s),
        flows=flows,
        stands_for=flows / modelled,
        present=present,
        most=each(lambda setting: _or_unlimited(setting.window_segments)),
        offered_per_s=each(lambda setting: _or_unlimited(setting.flow_bps) / 8 / setting.counted_bytes),
        at_s=np.zeros_like(flows),
        unrepaired=np.zeros(present.shape),
        flew=np.zeros(present.shape),
    )


def _or_unlimited(limit: float | None) -> float:
    return np.inf if limit is None else limit


def _width(setting: FlowSetting) -> int:
    """Flows that are modelled, up to a power of two: settings alike in that share arrays."""
    return 1 << (min(setting.flows, FLOWS) - 1).bit_length()


class _Totals:
    """What runs add up to: of the time that counts, of all of it, and of the second half of the steps."""

    def __init__(self, runs: int) -> None:
        self.counted, self.whole, self.late = (np.zeros(runs) for _ in range(3))
        """Segments that arrived."""
        self.counted_rtt, self.late_rtt = np.zeros(runs), np.zeros(runs)
        """Seconds × round trip."""
        self.late_s = np.zeros(runs)
        self.last = np.zeros(runs)
        """Segments per second of the last step."""

    def add(
        self, place: Place, length_s: Array, counted_s: Array, per_s: Array, rtt_s: Array, *, late: bool
    ) -> None:
        """Add a step of some runs."""
        arrived = per_s * length_s
        self.whole[place] += arrived
        self.counted[place] += per_s * counted_s
        self.counted_rtt[place] += rtt_s * counted_s
        if late:
            self.late[place] += arrived
            self.late_rtt[place] += rtt_s * length_s
            self.late_s[place] += length_s
        self.last[place] = per_s

    def go_on(self, place: Place, left_s: Array, left_counted_s: Array) -> None:
        """Take the time that is left of some runs to be like the second half of their steps."""
        if place.size:
            per_s = self.late[place] / self.late_s[place]
            counted_s = np.minimum(left_s, left_counted_s)
            self.whole[place] += per_s * left_s
            self.counted[place] += per_s * counted_s
            self.counted_rtt[place] += self.late_rtt[place] / self.late_s[place] * counted_s

    def sums(self) -> Array:
        """Segments of the time that counts, and of the whole; seconds × round trip; the last rate."""
        return np.stack([self.counted, self.whole, self.counted_rtt, self.last])


class _Runs:
    """Runs of settings with the same congestion control."""

    def __init__(self, settings: Sequence[FlowSetting], seed: int) -> None:
        self.settings = settings
        drawn = [setting.path.loss > 0 or setting.flows > 1 for setting in settings]
        many = max(RUNS_LEAST, FLOWS_DRAWN // _width(settings[0]))
        self.counts = [many if each else RUNS for each in drawn]
        # Runs of all settings draw alike: no setting's prediction depends on which others there are.
        self.random = np.random.default_rng(seed)
        self.steps = 0
        self.state = _state(settings, self.counts)
        self.law = LAWS[settings[0].congestion](self.state.present.shape)
        self.totals = _Totals(sum(self.counts))

    def predictions(self) -> list[Prediction]:
        """Run all of them to their ends."""
        while self.state.place.size and self.steps < STEPS_MOST:
            self._step()
            self.steps += 1
            going = self.state.at_s < self.state.ends_s - 1e-9
            if not going.all():
                self.law.keep(going)
                self.state = self.state.kept(going)
        now = self.state
        self.totals.go_on(now.place, now.ends_s - now.at_s, now.ends_s - np.maximum(now.at_s, now.omit_s))
        sums = np.split(self.totals.sums(), np.cumsum(self.counts)[:-1], axis=1)
        return [_prediction(setting, *own) for setting, own in zip(self.settings, sums, strict=True)]

    def _step(self) -> None:
        now, law = self.state, self.law
        # Until a loss is repaired, what was sent after it takes part of the receiver's window.
        most = np.maximum(now.most - now.unrepaired, 1)
        flying = np.minimum(law.window, most) * now.present
        held = flying.sum(axis=0) * now.stands_for
        product = now.rate_per_s * (now.rtt_min_s + now.burst_s)
        rtt_s, free = self._queue(held, product)
        rate = self._rate(flying, rtt_s)
        total = rate.sum(axis=0) * now.stands_for
        length_s = self._length_s(rtt_s)
        demand = self._demand(law, flying, held, product, free)
        overflow = np.maximum(demand - now.room, 0) / np.maximum(held, 1e-9)
        lost = rate * length_s * (now.loss + overflow)
        chances = self.random.random((FLOWS, FLOWS_DRAWN))[: len(lost), now.run]
        hit = (chances < -np.expm1(-lost)) & now.present
        carried = np.minimum(total, now.rate_per_s)
        counted_s = np.maximum(now.at_s + length_s - np.maximum(now.at_s, now.omit_s), 0)
        late = self.steps >= STEPS_MOST // 2
        self.totals.add(now.place, length_s, counted_s, carried * (1 - now.loss), rtt_s, late=late)
        share = np.minimum(1, now.rate_per_s / np.maximum(total, 1e-9))
        now.unrepaired, now.flew = np.where(hit, flying, 0), flying
        law.advance(
            Step(
                at_s=now.at_s,
                length_s=length_s,
                rtt_s=rtt_s,
                rtt_min_s=now.rtt_min_s,
                product_s=now.rtt_min_s + now.burst_s,
                queue_before_s=np.maximum(held / 2 - product, 0) / now.rate_per_s,
                room=now.room,
                before_loss=now.room / np.maximum(demand, now.room),
                rate_per_s=now.rate_per_s,
                most=now.most,
                ack_spacing_s=now.flows / now.rate_per_s,
                train_s=held / now.rate_per_s,
                flying=flying,
                delivered_per_s=rate * share,
                flows=now.flows,
                window_limited=(law.window <= now.most) & (flying / rtt_s <= now.offered_per_s),
                hit=hit,
            )
        )
        now.at_s = now.at_s + length_s

    def _queue(self, held: Array, product: Array) -> tuple[Array, Mask]:
        """Seconds of a round trip with what waits of all that flies, and which paths have no queue.

        A path that is not full has none, nor one to which applications send less than it carries.
        """
        now = self.state
        queued = np.minimum(np.maximum(held - product, 0), now.room)
        rtt_s = now.rtt_min_s + queued / now.rate_per_s
        offered = now.offered_per_s * now.flows
        free = (held / (rtt_s + now.burst_s) < now.rate_per_s) | (offered < now.rate_per_s)
        return np.where(free, now.rtt_min_s, rtt_s), free

    def _length_s(self, rtt_s: Array) -> Array:
        """Of a step: a round trip, or as many as go into the part of a trial that a step is, up to a few."""
        now = self.state
        length_s = np.minimum(np.maximum(now.ends_s / STEPS, rtt_s), ROUNDS_MOST * rtt_s)
        return np.minimum(length_s, now.ends_s - now.at_s)

    def _rate(self, flying: Array, rtt_s: Array) -> Array:
        """Segments per second of each flow: what flies, less what waits for a burst to be complete."""
        now = self.state
        return np.minimum(flying / (rtt_s + now.burst_s), now.offered_per_s) * now.present

    def _demand(self, law: Law, flying: Array, held: Array, product: Array, free: Mask) -> Array:
        """Segments that come to the queue to wait, whether it holds them or not.

        What a flow sends at once comes to what is there. In slow start each acknowledgement releases two
        segments: what the window grew by waits in the queue before the path is full.
        """
        now = self.state
        doubling: Array = np.where(law.slow_starting(), flying - now.flew, 0).max(axis=0)
        return np.maximum(np.where(free, 0, held - product + now.burst), doubling)


def _prediction(setting: FlowSetting, counted: Array, whole: Array, rtts: Array, last: Array) -> Prediction:
    segment_bits, counted_s = setting.counted_bytes * 8, setting.duration_s - setting.omit_s
    goodputs = counted * segment_bits / counted_s
    mean_bps, last_bps = float(goodputs.mean()), float(last.mean()) * segment_bits
    return Prediction(
        goodput_bps=mean_bps,
        lowest_bps=float(goodputs.min()),
        highest_bps=float(goodputs.max()),
        whole_bps=float(whole.mean()) * segment_bits / setting.duration_s,
        rtt_s=float(rtts.mean()) / counted_s,
        limit=_limit(setting, max(mean_bps, last_bps)),
        mean_reaches_bound=_limit(setting, mean_bps) != "congestion control",
    )


def _limit(setting: FlowSetting, goodput_bps: float) -> Limit:
    """What a goodput, of the whole time or at its end, is close to: the first of them that it is."""
    path, segment_bits = setting.path, setting.counted_bytes * 8 * setting.flows
    bounds: list[tuple[Limit, float | None]] = [
        ("rate asked", None if setting.flow_bps is None else setting.flow_bps * setting.flows),
        ("path", path.rate_bps * setting.counted_bytes / path.packet_bytes),
        (
            "window",
            None
            if setting.window_segments is None
            else setting.window_segments * segment_bits / (path.rtt_s + path.packet_s + _burst_s(setting)),
        ),
    ]
    near: list[Limit] = [limit for limit, bps in bounds if bps is not None and goodput_bps >= NEAR * bps]
    return near[0] if near else "congestion control"


def _burst_s(setting: FlowSetting) -> float:
    """How long what a flow sends at once takes, by which its round trips are longer than the path's."""
    return max(BURST_S, BURST_PACKETS * setting.path.packet_s) if setting.in_bursts else 0.0
