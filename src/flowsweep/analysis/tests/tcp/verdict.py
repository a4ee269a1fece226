"""What limited a trial: one word, from what the flight fills, CPU time and counters.

The rules, their reasons and how often they are right: docs/explanation/statistics.md, "Verdict".
"""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.background.ways import load_at_least, load_at_most
from flowsweep.analysis.verdict_rules import always_busy, most_drops, rate_reached
from flowsweep.analysis.verdicts import (
    APPLICATION_RATE,
    BUSY,
    CORES_BUSY,
    HOST_DROPS,
    LOSS,
    MOST,
    NOT_CLEAR,
    PATH_FULL,
    PATH_NOT_FULL,
    QUEUE,
    QUEUE_MS,
    QUEUE_SHARE,
    RECEIVE_WINDOW,
    RECEIVER_CPU,
    REVERSE_QUEUE,
    SEND_WINDOW,
    SENDER_CPU,
    SOME,
)

THROTTLED = SOME
"""Threads that a quota keeps from running for this share of their time have more to do than they may."""
WINDOW_CLOSES = 0.8
"""A receiver that reads in time announces its whole window; one that is behind less, by what is unread."""
STEADY = 0.04
"""A queue that stands makes round trips vary by up to 0.03 of what it adds, bursts by 0.06 and more."""
CALM = 0.08
"""Round trips that vary by more of what they are longer by do so for another reason than a queue of ours: on
paths with jitter it was 0.16 and more, of a sender's bursts 0.1 and more."""
JITTER = 0.16
"""From this share on a path's own jitter may be all that makes round trips longer."""
UNSTEADY = 0.2
"""Queues at receive windows made round trips vary by up to 0.17 of what they added."""
BEYOND_USUAL = 2
"""Round trips at losses that are longer than the median by so many of their own deviations are of a queue
that has filled; those of losses at random are as any other."""
DROPS_PER_RECOVERY = 0.5
"""Hosts that drop a packet for every second episode of recovery account for most of them."""
NEAR_MS = 1.0
"""Below, a round trip is what hosts take over their packets: no window of the kernel's own size is full."""


def with_verdict(rows: ir.Table) -> ir.Table:
    """Add `verdict`: one word of `VERDICTS`, null where samples do not tell what the flows waited for.

    Args:
        rows: One row per trial, with columns as in a summary: goodput_bps, goodput_mean_bps, flows,
            window_send_bytes, rate_bps, pacing_rate_bps, limit_…_share, sender_idle_share, rtt_min_ms,
            rtt_median_ms, rtt_variation_ms, rtt_at_loss_ms, recoveries, rwnd_open_share,
            thread_busy_…, cores_busy_…, softirq_core_recv, throttled_send_share, throttled_recv_share,
            host_dropped_packets, link_payload_bps, theory_window_bps, share, link_queue_drops,
            link_random_drops, link_policer_drops, link_queued_share, link_shared, simultaneous; and those of
            `flowsweep.analysis.background.ways.background_ways`.

    Method:
        The first rule that holds, in this order: a rate that the plan sets and the trial reaches; CPU of an
        end; drops at hosts; a full link; windows; a queue; loss. The flight decides as
        `flowsweep.analysis.tests.tcp.limits` says (after Mathis, Heffner and Reddy, "Web100: extended TCP
        instrumentation", 2003). Where emulated links counted drops, these tell a queue from losses at random
        and those of a policer, and no round trip does; where others send over them, too, and they dropped for
        more than one reason, nobody knows whose packets were which. What is no clear majority is "not clear".
    """
    # Without windows, as of Linux before 5.4, or of imported trials, of which nothing else is known either.
    untold = rows.limit_none_share.isnull()
    busy = _busy(rows)
    queue = ibis.literal(QUEUE)
    loss = ibis.literal(LOSS)
    cwnd_or_pace = rows.limit_cwnd_share + _pace(rows) >= MOST
    lossy = cwnd_or_pace & (rows.recoveries > 0).coalesce(False)
    filled = _windows_fill(rows)
    beyond = _queue_beyond_window(rows)
    windows = filled & (_far_from_full(rows) | ~(beyond | _perhaps_beyond_window(rows)))
    own_queue = _queue_is_its_own(rows)
    verdict = ibis.cases(
        (rows.goodput_bps.isnull() | (untold & rows.thread_busy_send.isnull()), ibis.null("string")),
        (rate_reached(rows, rows.rate_bps) | rate_reached(rows, rows.pacing_rate_bps), APPLICATION_RATE),
        (busy["both"], NOT_CLEAR),
        (busy["sender"], SENDER_CPU),
        (busy["receiver"], RECEIVER_CPU),
        (untold & _path_is_full(rows), queue),
        (untold, ibis.null("string")),
        (cwnd_or_pace & _dropped_at_hosts(rows), HOST_DROPS),
        (rows.sender_idle_share >= SOME, NOT_CLEAR),
        # A policer has no queue, however much of its rate a trial gets.
        (lossy & _dropped_by_policer(rows), loss),
        (_path_is_full(rows), queue),
        (windows & _of_receiver(rows), RECEIVE_WINDOW),
        (windows, SEND_WINDOW),
        (lossy & _dropped_at_random(rows) & _far_from_full(rows), loss),
        (_acknowledgements_wait(rows), ibis.literal(REVERSE_QUEUE)),
        (lossy & _dropped_at_queue(rows), queue),
        (filled & beyond & own_queue, queue),
        (filled, NOT_CLEAR),
        (_queue_stands(rows) & own_queue, queue),
        (cwnd_or_pace & _queue_at_loss(rows), queue),
        # A congestion control that paces itself paces at what it finds the path to carry.
        (_pace(rows) >= MOST, queue),
        (lossy & _queue_of_either(rows), NOT_CLEAR),
        (lossy, loss),
        else_=NOT_CLEAR,
    )
    return rows.mutate(verdict=verdict)


def _pace(rows: ir.Table) -> ir.FloatingValue:
    """Share of the time in which data waited although no window was full."""
    return rows.limit_none_share - rows.sender_idle_share


def _busy(rows: ir.Table) -> dict[str, ir.BooleanValue]:
    """Which end's CPU limits.

    A thread that is always busy is never held up by TCP: the sender's finds room in its buffer, the
    receiver's finds data. An end that is throttled had work to do when its quota was used up. Beside others
    on a busy host neither need be: then the flight tells, idle or at a window that closes. Where the kernel
    sizes the send buffer a flight that fills it looks idle, and says nothing of the CPU, unless the hosts are
    so near each other that no flight fills it.
    """
    send, receive = (
        ((busy >= BUSY) | (throttled >= THROTTLED)).coalesce(False)
        for busy, throttled in (
            (rows.thread_busy_send, rows.throttled_send_share.coalesce(0.0)),
            (rows.thread_busy_recv, rows.throttled_recv_share.coalesce(0.0)),
        )
    )
    idle, peer = rows.sender_idle_share, rows.limit_rwnd_share
    near = (rows.rtt_min_ms < NEAR_MS).coalesce(False)
    known = rows.window_send_bytes.notnull()
    send_crowded = (rows.cores_busy_send >= CORES_BUSY).coalesce(False) & (
        (known & (idle >= MOST)) | (near & (idle >= SOME) & (idle >= peer))
    )
    closes = (rows.rwnd_open_share < WINDOW_CLOSES).coalesce(False)
    receive_crowded = (
        (rows.cores_busy_recv >= CORES_BUSY).coalesce(False)
        & closes
        & ((peer >= MOST) | (near & (peer >= SOME) & (peer > idle)))
    )
    interrupts = always_busy(rows.softirq_core_recv) & (idle < SOME)
    both = send & receive
    return {
        "both": both & ((idle < 2 * peer) & (peer < 2 * idle)).coalesce(True),
        "sender": (send & (~receive | (idle >= 2 * peer))) | (send_crowded & ~receive),
        "receiver": receive | receive_crowded | interrupts,
    }


def _dropped_at_hosts(rows: ir.Table) -> ir.BooleanValue:
    enough = rows.host_dropped_packets >= rows.recoveries * DROPS_PER_RECOVERY
    return ((rows.recoveries > 0) & enough).coalesce(False)


def _dropped_at_queue(rows: ir.Table) -> ir.BooleanValue:
    """Whether emulated links dropped at a full queue, by their own counters."""
    return most_drops(rows, rows.link_queue_drops)


def _dropped_at_random(rows: ir.Table) -> ir.BooleanValue:
    """Whether emulated links lost packets at random, by their own counters, and hardly any at a queue."""
    return most_drops(rows, rows.link_random_drops)


def _dropped_by_policer(rows: ir.Table) -> ir.BooleanValue:
    """Whether policers of emulated links dropped, by their own counters."""
    return most_drops(rows, rows.link_policer_drops)


def _queue_stands(rows: ir.Table) -> ir.BooleanValue:
    """Whether a larger window would only wait longer: half of the time the path held a queue."""
    return _longer(rows, rows.rtt_median_ms) & _varies_at_most(rows, rows.rtt_median_ms, CALM)


def _acknowledgements_wait(rows: ir.Table) -> ir.BooleanValue:
    """Whether round trips are long though the plan's link has room left, while the other direction is in use.

    Acknowledgements share the queue of the other direction's data: no round trip tells whose queue it is, but
    at a link that is far from full none stands. The other direction's acknowledgements take their part of a
    slow link, so that it looks emptier than it is: the queue of an emulated one tells.
    """
    empty = (rows.link_queued_share < MOST).coalesce(True)
    return _other_way_in_use(rows) & _far_from_full(rows) & _longer(rows, rows.rtt_median_ms) & empty


def _queue_is_its_own(rows: ir.Table) -> ir.BooleanValue:
    """Whether a queue that round trips show can only be that of the data, or what links carry tells."""
    return ~_other_way_in_use(rows) | rows.link_payload_bps.notnull()


def _other_way_in_use(rows: ir.Table) -> ir.BooleanValue:
    """Whether something is known to send the other way: the second trial of a pair, or background traffic."""
    return rows.simultaneous | rows.beside_back.coalesce(False)


def _queue_of_either(rows: ir.Table) -> ir.BooleanValue:
    """Whether a queue adds to round trips, of this direction or of the other: losses may be of it, or not."""
    return _longer(rows, rows.rtt_median_ms) & ~_queue_is_its_own(rows) & ~_dropped_at_random(rows)


def _queue_at_loss(rows: ir.Table) -> ir.BooleanValue:
    """Whether queues drop: they are full when they do, if only then.

    A calm queue that may be the other direction's says nothing of losses that find it as it always is.
    """
    usual = rows.rtt_median_ms + rows.rtt_variation_ms * BEYOND_USUAL
    beyond = rows.rtt_at_loss_ms >= usual
    calm = _varies_at_most(rows, rows.rtt_at_loss_ms, CALM)
    own = _queue_is_its_own(rows)
    return _longer(rows, rows.rtt_at_loss_ms) & (beyond.coalesce(own) | (own & calm))


def _longer(rows: ir.Table, rtt_ms: ir.FloatingValue) -> ir.BooleanValue:
    excess_ms = rtt_ms - rows.rtt_min_ms
    return ((excess_ms >= rows.rtt_min_ms * QUEUE_SHARE) & (excess_ms >= QUEUE_MS)).coalesce(False)


def _varies_at_most(rows: ir.Table, rtt_ms: ir.FloatingValue, share: float) -> ir.BooleanValue:
    """Whether round trips vary by no more than this share of what they are longer by; unknown counts as so.

    An unpaced sender whose buffer limits it hands over the whole buffer at once, and the end of it waits for
    its beginning: round trips are long on average, but each is another. So they are where a path has jitter.
    """
    return (rows.rtt_variation_ms <= (rtt_ms - rows.rtt_min_ms) * share).coalesce(True)


def _filling(rows: ir.Table) -> ir.NumericValue:
    """The higher one of median and mean: how much of a link a trial filled by itself."""
    return ibis.greatest(rows.goodput_bps, rows.goodput_mean_bps.coalesce(rows.goodput_bps))


def _path_is_full(rows: ir.Table) -> ir.BooleanValue:
    """Whether the plan's link was full, and not for a part of the time only.

    Of background traffic that goes another way nothing is in it.
    """
    mean_bps = load_at_least(rows, rows.goodput_mean_bps.coalesce(rows.goodput_bps))
    always = mean_bps >= rows.link_payload_bps * PATH_NOT_FULL
    filling = load_at_least(rows, _filling(rows))
    return ((filling >= rows.link_payload_bps * PATH_FULL) & always).coalesce(False)


def _far_from_full(rows: ir.Table) -> ir.BooleanValue:
    """Whether the plan's link had room left, as far as it is known."""
    return (load_at_most(rows, _filling(rows)) < rows.link_payload_bps * PATH_NOT_FULL).coalesce(False)


def _windows_fill(rows: ir.Table) -> ir.BooleanValue:
    """Whether windows are what fills, left out the time that a congestion control paced itself.

    A congestion window that loses next to nothing grows until it limits no more: beside a send buffer that
    fills for a third of the time it is not what limits.
    """
    windows = rows.limit_rwnd_share + rows.limit_send_buffer_share
    most = windows >= (windows + rows.limit_cwnd_share) * MOST
    hardly_lossy = (rows.recoveries <= rows.flows).coalesce(False)
    buffer = (rows.limit_send_buffer_share >= SOME) & hardly_lossy
    return (windows >= SOME) & (most | buffer)


def _queue_beyond_window(rows: ir.Table) -> ir.BooleanValue:
    """Whether what windows hold beyond the path's own waits in a queue.

    A receive window that holds no more than the path does cannot double its round trips, however it is sent.
    Jitter can, where the plan does not say that the link was nearly full. Where windows allow twice what the
    plan's link carries, the rest of them is in its queue.
    """
    jitter = rows.link_payload_bps.isnull() & ~_varies_at_most(rows, rows.rtt_median_ms, JITTER)
    twice = (rows.theory_window_bps >= rows.link_payload_bps * 2).coalesce(False)
    calm = _varies_at_most(rows, rows.rtt_median_ms, CALM)
    steady = _varies_at_most(rows, rows.rtt_median_ms, STEADY)
    at_receiver = _of_receiver(rows) & (calm | (_doubled(rows) & ~jitter) | twice)
    return _longer(rows, rows.rtt_median_ms) & (steady | at_receiver)


def _perhaps_beyond_window(rows: ir.Table) -> ir.BooleanValue:
    """Whether windows may fill a queue, over a link of which the plan does not say what it carries.

    Goodput tells nothing: it is a window per round trip, in whatever way that is longer. But windows that let
    much more through than came, even so, are not what limited.
    """
    at_receiver = (
        _varies_at_most(rows, rows.rtt_median_ms, UNSTEADY) | _doubled(rows) | _windows_have_room(rows)
    )
    # Where the congestion window held back for half of the time, bursts doubled those of a path with room.
    at_sender = _doubled(rows) & (rows.limit_cwnd_share < SOME)
    longer = rows.link_payload_bps.isnull() & _longer(rows, rows.rtt_median_ms)
    return longer & _of_receiver(rows).ifelse(at_receiver, at_sender)


def _windows_have_room(rows: ir.Table) -> ir.BooleanValue:
    """Whether windows let much more through than came, at the round trips that there were."""
    allowed_bps = rows.theory_window_bps * rows.rtt_min_ms / rows.rtt_median_ms
    return (_filling(rows) < allowed_bps * MOST).coalesce(False)


def _doubled(rows: ir.Table) -> ir.BooleanValue:
    return (rows.rtt_median_ms >= rows.rtt_min_ms * 2).coalesce(False)


def _of_receiver(rows: ir.Table) -> ir.BooleanValue:
    """Whether of the two windows it is the receiver's that limits, if any does."""
    return rows.limit_rwnd_share >= rows.limit_send_buffer_share
