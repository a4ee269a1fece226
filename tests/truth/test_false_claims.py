"""Thousands of campaigns of each kind, judged by all findings: what is claimed wrongly, what is found?"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from truth_support import NOTES, PROCESSES, chance, fill_table, in_processes, table, write_result

from judged_campaigns import KINDS, NOTHING, SOMETHING, Kind, counted
from shared_noise import shared_noise

MANY, SOME = 10_000, 1_000
SIGNIFICANCE = 0.05
COVERED = 0.93
"""Of intervals where levels are alike: the pair that an effect is of may be chosen for what it differs by."""
FALSE = "false claim: "
COMPARED = ("window", "flows", "direction")


def test_claims_of_all_kinds_of_campaigns() -> None:
    results: dict[str, tuple[int, Counter[str]]] = {}
    for kinds, campaigns in ((NOTHING, MANY), (SOMETHING, SOME)):
        for kind in kinds:
            results[kind.name] = campaigns, count(kind.name, campaigns)
            write(results)
    assert [what for kind in (*NOTHING, *SOMETHING) for what in wrong_of(kind, *results[kind.name])] == []


def wrong_of(kind: Kind, campaigns: int, told: Counter[str]) -> Iterator[str]:
    """What is not as it should be, beyond chance."""
    if told["any false claim"] > SIGNIFICANCE * campaigns + chance(SIGNIFICANCE, campaigns):
        yield f"{kind.name}: {told['any false claim'] / campaigns:.2%} with a false claim"
    if kind.sought and told["found"] < kind.power * campaigns - chance(kind.power, campaigns):
        yield f"{kind.name}: found in {told['found'] / campaigns:.1%}"
    for what in COMPARED:
        intervals = told[f"{what}: has an interval"]
        if told[f"{what}: covered"] < COVERED * intervals - chance(COVERED, intervals):
            yield f"{kind.name}: {what} covered in {told[f'{what}: covered'] / intervals:.1%}"


def count(name: str, campaigns: int) -> Counter[str]:
    """Draw the campaigns of a kind and count what is said of them; each process keeps what they share."""
    per_process = -(-campaigns // PROCESSES)
    parts = [range(begin, min(begin + per_process, campaigns)) for begin in range(0, campaigns, per_process)]
    return sum(in_processes(partial(count_some, name), parts), Counter())


def count_some(name: str, numbers: range) -> Counter[str]:
    with shared_noise():
        return counted(KINDS[name], numbers)


def write(results: Mapping[str, tuple[int, Counter[str]]]) -> None:
    shares = {
        name: {"campaigns": campaigns} | {what: of / campaigns for what, of in sorted(told.items())}
        for name, (campaigns, told) in results.items()
    }
    what = "what all findings together claim of synthetic campaigns of known truth; shares of campaigns"
    write_result("conclusions-false-claims", what, {"kinds": shares})
    columns = (
        "campaigns", "number", "any false claim", "of which kinds", "found",
        "interval covers: window", "flows", "direction",
    )  # fmt: skip
    lines = [
        (
            name,
            of["campaigns"],
            f"{of.get('any false claim', 0):.2%}",
            ", ".join(f"{key.removeprefix(FALSE)} {of[key]:.2%}" for key in of if key.startswith(FALSE)),
            f"{of.get('found', 0):.1%}" if KINDS[name].sought else "",
            *(covered(of, key) for key in COMPARED),
        )
        for name, of in shares.items()
    ]
    fill_table(NOTES / "conclusions-false-claims.md", "claims", table(columns, lines))


def covered(of: Mapping[str, float], what: str) -> str:
    """How many intervals hold the truth, of those that there are."""
    intervals = of.get(f"{what}: has an interval", 0)
    return f"{of.get(f'{what}: covered', 0) / intervals:.1%}" if intervals else ""
