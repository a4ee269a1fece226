"""What is to be done where a stage of files is waited for: the opening says as the finding `bounds` does."""

import pytest

from file_support import JOB_BYTES, make_file_outcome, make_file_trial
from flowsweep.analysis.findings.topics import findings
from flowsweep.report.opening import opening
from summary_support import summed

WHOLE, READ, NETWORK = (47.0, 48.0, 47.5), (1600.0, 1610.0, 1605.0), (117.0, 118.0, 117.5)


@pytest.mark.parametrize(
    ("rates", "together"),
    [
        ({"whole": (25.0, 25.5, 24.5), "write": (49.0, 50.0, 49.5), "read": READ}, True),
        ({"whole": WHOLE, "write": (49.0, 50.0, 49.5), "read": READ}, False),
        ({"whole": WHOLE, "write": (49.0, 50.0, 1000.0), "read": READ}, False),
        ({"whole": WHOLE}, False),
    ],
)
def test_a_faster_disk_is_advised_unless_parts_hold_each_other_up(
    rates: dict[str, tuple[float, ...]], *, together: bool
) -> None:
    """One write of three went to the page cache, or none was measured: "to do" had been left out."""
    rows = [
        row | {"verdict": "sink disk" if row["mode"] in (None, "whole") else None}
        for row in summed(
            *(
                make_file_outcome(
                    make_file_trial(part=part, repeat=number), seconds=JOB_BYTES / rate / 1_000_000
                )
                for part, repeats in (rates | {"network": NETWORK}).items()
                for number, rate in enumerate(repeats, start=1)
            )
        )
    ]
    found = findings(rows)
    (bounds,) = [one for one in found if one.kind == "bounds"]
    told = opening(rows, found)
    assert told is not None
    assert ("less than any part alone" in bounds.claim) is together
    assert ("faster disk at b" in dict(told.lines).get("To do", "")) is not together
    elsewhere = [row | {"trial_id": f"{row['trial_id']}-elsewhere", "src": "c"} for row in rows]
    told = opening([row for row in elsewhere if row["mode"] in (None, "whole")], found)
    assert told is not None
    assert "faster disk at b" in dict(told.lines).get("To do", ""), "of other trials"
