"""A record that no Flowsweep wrote is refused by name, whatever of it cannot be shown."""

import pytest

from analysis_support import make_record, make_trial
from flowsweep.archive.trials import trials_table
from flowsweep.errors import ArchiveError

GOOD = make_record(make_trial(src="b", dst="a"))


@pytest.mark.parametrize(
    "strange",
    [
        make_record(make_trial(flows=1 << 70)),
        make_record(make_trial(interval_ns=0)),
        make_record(make_trial(), attempt=1 << 15),
    ],
    ids=[
        "more flows than a column holds",
        "intervals of no length",
        "attempts without end",
    ],
)
def test_a_record_of_which_no_row_can_be_made_is_named(strange) -> None:
    with pytest.raises(ArchiveError, match=f"^trial {strange.trial_id}: a number or a time"):
        trials_table([GOOD, strange], attempts={})
