"""Ten thousand campaigns of each kind, judged by all findings: what is claimed wrongly, what is found?"""

import math
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from truth_support import NOTES, fill_table, table, write_result

from judged_campaigns import KINDS, NOTHING, SOMETHING, counted
from shared_noise import shared_noise

MANY, SOME = 10_000, 1_000
PROCESSES = 2
SIGNIFICANCE, POWER, POWER_OF_TEN_PERCENT = 0.05, 0.90, 0.95
NOT_COVERED = 0.07
FALSE = "false claim: "
COMPARED = ("window", "flows", "direction")


def test_claims_of_all_kinds_of_campaigns() -> None:
    results: dict[str, tuple[int, Counter[str]]] = {}
    for kinds, campaigns in ((NOTHING, MANY), (SOMETHING, SOME)):
        for kind in kinds:
            results[kind.name] = campaigns, count(kind.name, campaigns)
            write(results)
    for kind in (*NOTHING, *SOMETHING):
        campaigns, told = results[kind.name]
        assert told["any false claim"] <= SIGNIFICANCE * campaigns + chance(SIGNIFICANCE, campaigns), (
            kind.name
        )
        for what in COMPARED:
            wrong = told[f"{what}: decided and not covered"]
            assert wrong <= NOT_COVERED * max(told[f"{what}: has an interval"], 1), (kind.name, what)
        if kind.sought:
            least = POWER_OF_TEN_PERCENT if kind.percent else POWER
            assert told["found"] >= least * campaigns - chance(least, campaigns), kind.name


def chance(share: float, campaigns: int) -> float:
    """Three standard deviations of how many of so many campaigns a share is of."""
    return 3 * math.sqrt(campaigns * share * (1 - share))


def count(name: str, campaigns: int) -> Counter[str]:
    """Draw the campaigns of a kind and count what is said of them; each process keeps what they share."""
    per_process = -(-campaigns // PROCESSES)
    parts = [range(begin, min(begin + per_process, campaigns)) for begin in range(0, campaigns, per_process)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        return sum(pool.map(partial(count_some, name), parts), Counter())


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
