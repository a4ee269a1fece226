"""The search of `flowsweep tune`, round by round, and its answer; imported late, since the analysis is."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import chain, count
from pathlib import Path

from flowsweep.cli.app import print_error
from flowsweep.cli.stopping import Stopped, Stopper
from flowsweep.cli.summary_rows import rows_of_outcomes
from flowsweep.cli.terminal import say, say_json
from flowsweep.cli.tune_rounds import Rounds
from flowsweep.cli.tune_text import print_answer, write_answer
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import FlowsweepError, TuningError
from flowsweep.run.outcome import TrialOutcome
from flowsweep.tuning.allowed import allowed
from flowsweep.tuning.answer import Answer, answer, as_json
from flowsweep.tuning.measured import permitted, tried_of
from flowsweep.tuning.places import Means, Place
from flowsweep.tuning.plans import round_plan
from flowsweep.tuning.rounds import Round, Tried
from flowsweep.tuning.search import Known, next_round, verification
from flowsweep.tuning.settings import Way
from flowsweep.wording import printable

_LONGEST_NAME = 100
"""Characters of a host, in the name of a file: file systems take 255."""


def searched(rounds: Rounds, idle: Sequence[TrialOutcome], stopper: Stopper) -> Answer:
    """Measure round after round, and decide.

    Args:
        rounds: What runs them.
        idle: What the first round, of the idle path, came to.
        stopper: Answers signals.

    Raises:
        TuningError: The budget is too small for this path, or there is nothing to compare with.
        Stopped: A signal came before there was an answer; in the verification `rounds` has it.
    """
    (row,) = rows_of_outcomes(idle)
    rtt_ms, least_ms = row["rtt_probe_median_ms"], row["rtt_probe_min_ms"]
    if rtt_ms is None or least_ms is None:
        raise TuningError(f"the round trip could not be measured: {'; '.join(rounds.failures)}")
    may = seemed = {way: allowed(rounds.facts, *ends) for way, ends in rounds.ends.items()}
    done: list[Round] = []
    tried: list[Tried] = []

    def measure(asked: Round) -> None:
        nonlocal may
        outcomes = rounds.run(asked.stage, round_plan(asked, rounds.hosts_text, rounds.ends), stopper)
        rows = {row["trial_id"]: row for row in rows_of_outcomes(outcomes)}
        tried.extend(tried_of(asked, outcomes, rows))
        may = permitted(may, asked, outcomes)
        done.append(asked)

    while (asked := next_round(Known(may, least_ms, rounds.left, tuple(done), tuple(tried)))) is not None:
        measure(asked)
    forbidden = {
        (way, name)
        for way, of in seemed.items()
        for name in of.congestions
        if name not in may[way].congestions
    }
    found = _answer(rounds, tried, done, forbidden, rtt_ms)
    chosen = {one.decision.way: one.decision.chosen for one in found.directions}
    again = verification(chosen, done[-1], rounds.whole)
    if rounds.request.verify and again is None and any(chosen.values()):
        say(
            "verification: half of the budget does not hold three pairs of trials: not measured again",
            err=True,
        )
    if rounds.request.verify and again is not None:
        kept = [*tried], [*done]
        try:
            measure(again)
        except (Stopped, FlowsweepError) as error:  # it costs nothing of what is decided already
            rounds.verification_ended(error)
            tried, done = kept
        found = _answer(rounds, tried, done, forbidden, rtt_ms)
    return found


def tell(rounds: Rounds, found: Answer) -> bool:
    """Print the answer, then write what is to be kept of it; returns whether all of that could be.

    The answer took minutes: neither a disk that takes nothing nor a terminal that is gone costs the other.
    """
    request, told = rounds.request, True
    try:
        if request.as_json:
            say_json(as_json(found) | {"failures": rounds.failures, "left_out": rounds.left_out})
        else:
            print_answer(found, rounds.failures, rounds.left_out, rounds.last)
    except BrokenPipeError:  # nobody reads: the command ends as after SIGPIPE
        raise
    except OSError as error:
        print_error(error)
        told = False
    finally:
        writes = [partial(_write, path, text) for path, text in _files_of(rounds, found)]
        written = [_written(write) for write in (*writes, partial(_write_page, rounds, found))]
    return told and all(written)


def _written(write: Callable[[], None]) -> bool:
    try:
        write()
    except (FlowsweepError, OSError) as error:
        print_error(error)
        return False
    return True


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _files_of(rounds: Rounds, found: Answer) -> Iterator[tuple[Path, str]]:
    """What is kept beside the archives: the plan, and the settings of each host in a file of its own."""
    save = rounds.request.save
    if save is None:
        return
    if found.plan is not None:
        yield save / "plan.toml", found.plan
    taken: set[str] = set()
    for one in found.how:
        if one.place.has_file:
            taken.add(name := _file_of(one.place, taken))
            yield save / name, f"{_of_whom(one.place)}\n{one.text}"


def _of_whom(place: Place) -> str:
    """The first line of a file of settings."""
    name = printable(" ".join(place.name.split()))
    if place.means is Means.machines_file:
        return f"# for the machine of {name}, whose network it shares: counts for all of that machine"
    return f"# {name}"


def _file_of(place: Place, taken: Collection[str] = ()) -> str:
    """What the file of a host is called: long names are cut, and what two hosts would have is numbered."""
    host = re.sub("[^A-Za-z0-9._]+", "-", place.name).strip("-")[:_LONGEST_NAME]
    names = (f"sysctl-{host}{number}.conf" for number in chain([""], (f"-{each}" for each in count(2))))
    return next(name for name in names if name not in taken)


def _write_page(rounds: Rounds, found: Answer) -> None:
    request = rounds.request
    if request.report is not None:
        page = write_answer(found, request.report, rounds.failures, rounds.left_out)
        say(page, err=request.as_json)


def _answer(
    rounds: Rounds,
    tried: Sequence[Tried],
    done: Sequence[Round],
    forbidden: Collection[tuple[Way, str]],
    rtt_ms: float,
) -> Answer:
    return answer(
        tried,
        rtt_ms=rtt_ms,
        hosts=rounds.facts,
        ends=rounds.ends,
        hosts_text=rounds.hosts_text,
        rounds=done,
        forbidden=forbidden,
        spent=(rounds.traffic_ns / SECOND_NS, rounds.traffic_bytes),
        is_loopback=rounds.is_loopback,
        places=rounds.places,
    )
