"""What the sender's own host did to datagrams: refused them, or dropped them before they left."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.expressions import column_or_null
from flowsweep.defaults import OFFERED_SHARE_MIN, SECOND_NS
from flowsweep.schedule.background import PROBE

_SEND_ERRORS = ("Udp.SndbufErrors", "Udp6SndbufErrors")


def send_errors(counters: ir.Table) -> ir.Table:
    """Count what the sources' kernels did not take, or dropped at once.

    Args:
        counters: As in an archive.

    Returns:
        One row per trial in which a source's counter rose: trial_id, send_errors (int64).

    Method:
        Linux counts in `SndbufErrors` both a call that found the socket's buffer full and a packet that the
        queueing discipline of the source's device dropped (`udp_sendmsg`, `udp_send_skb`; RFC 4113 has no
        counter of either). Several datagrams that went down in one piece count as one.
    """
    rows = counters.filter((counters.role == "source") & counters.name.isin(_SEND_ERRORS))
    return rows.group_by("trial_id").aggregate(send_errors=rows.value.sum().cast("int64"))


def senders_beside(flows: ir.Table, others: ir.Table, other_samples: ir.Table) -> ir.Table:
    """Count background traffic that may raise the same counters: datagrams from a trial's own sources.

    Args:
        flows: As in an archive.
        others: Of background traffic, as in an archive.
        other_samples: Likewise.

    Returns:
        One row per trial with such traffic: trial_id, senders_beside (int64: its flows). Those of QUIC count,
        those of TCP, which sends no datagrams, do not; nor does a probe, which sends next to nothing.
    """
    state = column_or_null(other_samples, "state")
    of_tcp = other_samples.filter((other_samples.role == "source") & state.notnull())
    sources = others.filter((others.role == "source") & (others.background != PROBE).coalesce(True))
    own = flows.filter(flows.role == "source").select("trial_id", "host").distinct()
    found = sources.semi_join(own, ["trial_id", "host"]).anti_join(of_tcp, ["trial_id", "flow"])
    return found.group_by("trial_id").aggregate(senders_beside=found.count().cast("int64"))


def with_sender_drops(rows: ir.Table) -> ir.Table:
    """Tell what was lost before it left the source from what was lost later.

    Args:
        rows: One row per trial, with columns as in a summary: test, send_errors, datagrams_sent, lost,
            cores_busy_send, length_bytes, duration_ns, pad_ns, omit_ns, imported_from, rate_sum_bps,
            flows_broken, loss, loss_at_hosts, loss_on_path; datagrams_refused, datagrams_handed, sending_ns
            and sent_by_server, as of `flowsweep.analysis.tests.udp.datagrams.datagram_facts`; and
            senders_beside.

    Returns:
        The rows with send_errors (int64; 0 where no counter rose, null for other tests and where nobody
        watched the sources), offered_share (float64: payload handed to the kernel / what was asked for while
        the sources sent; null without a rate) and loss_at_sender (float64: of those sent; null where it is
        not known), which loss_on_path is without.

    Method:
        The errors of a source that sent what it was asked to, and was never refused a datagram, are drops of
        its own device. One that was refused some tries again until its kernel takes them, and each try counts
        as an error: nobody knows how many errors were drops. Nor does anybody where the source did not count
        what it was refused, or whose errors they were where background traffic sends datagrams from it, too.
    """
    of_datagrams = rows.test == "udp"
    if_none_rose = rows.cores_busy_send.notnull().ifelse(0, ibis.null("int64"))
    errors = of_datagrams.ifelse(rows.send_errors.coalesce(if_none_rose), ibis.null("int64"))
    sent_bits = rows.datagrams_handed.cast("float64") * rows.length_bytes * 8
    asked_bits = (rows.rate_sum_bps * _sending_ns(rows) / SECOND_NS).nullif(0.0)
    whole = of_datagrams & (rows.flows_broken == 0).coalesce(False)
    offered = whole.ifelse(sent_bits / asked_bits, ibis.null("float64"))
    beyond_hosts = rows.lost.cast("float64") * (1 - rows.loss_at_hosts / rows.loss.nullif(0.0)).coalesce(1.0)
    at_sender = ibis.cases(
        (errors.notnull() & ((errors == 0) | (rows.lost == 0)), ibis.literal(0.0)),
        (
            (offered >= OFFERED_SHARE_MIN)
            & errors.notnull()
            & (rows.datagrams_refused == 0)
            & rows.senders_beside.isnull(),
            ibis.least(errors.cast("float64"), beyond_hosts),
        ),
        else_=ibis.null("float64"),
    )
    lost_there = of_datagrams.ifelse(at_sender, ibis.null("float64")) / rows.datagrams_sent.nullif(0)
    with_sender = rows.mutate(send_errors=errors, offered_share=offered, loss_at_sender=lost_there)
    # Where nobody watched the source, all that did not reach the sink's host is the path's, as before.
    at_source = errors.isnull().ifelse(0.0, lost_there)
    return with_sender.mutate(loss_on_path=with_sender.loss_on_path - at_source)


def _sending_ns(rows: ir.Table) -> ir.FloatingValue:
    """How long the flows sent, the mean of all of them: from their start, and not for the duration alone.

    That begins once the source has heard that all flows run. Where the sources do not say, as other tools
    may not: the duration and what a source of ours sends beyond.
    """
    omitted_ns = rows.sent_by_server.coalesce(False).ifelse(rows.omit_ns, 0)
    told_ns = (rows.sending_ns.nullif(0.0) + omitted_ns).cast("float64")
    asked_ns = (rows.duration_ns + rows.pad_ns).cast("float64")
    return rows.imported_from.isnull().ifelse(told_ns, ibis.null("float64")).coalesce(asked_ns)
