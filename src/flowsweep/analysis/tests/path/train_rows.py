"""Trains and streams as rows, for figures."""

from collections.abc import Iterable

from flowsweep.analysis.tests.path.facts import PathFacts


def train_rows(measured: Iterable[PathFacts]) -> list[dict[str, object]]:
    """List the trains and streams of trials.

    Returns:
        trial_id; train, its number in the trial; kind: "train" or "stream"; rate_bps: at which a train
        arrived, or a stream was sent (bit/s of IP packets); of trains `source_bps`, at which it was sent, and
        `first_packet`, from which both count;
        of streams `compared` (PCT, 0 to 1), `difference` (PDT, -1 to 1) and `grows`: whether delays grow,
        null if that is unclear.
    """
    return [row for facts in measured for row in (*_trains(facts), *_streams(facts))]


def _trains(facts: PathFacts) -> Iterable[dict[str, object]]:
    for train in facts.dispersions:
        yield {
            "trial_id": facts.trial_id, "train": train.number, "kind": "train", "rate_bps": train.rate_bps,
            "source_bps": train.source_bps, "first_packet": train.first, "compared": None,
            "difference": None, "grows": None,
        }  # fmt: skip


def _streams(facts: PathFacts) -> Iterable[dict[str, object]]:
    for stream in facts.streams:
        yield {
            "trial_id": facts.trial_id, "train": stream.number, "kind": "stream", "rate_bps": stream.rate_bps,
            "source_bps": None, "first_packet": None, "compared": stream.compared,
            "difference": stream.difference,
            "grows": stream.grows,
        }  # fmt: skip
