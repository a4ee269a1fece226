"""What alarms say of a time depends on nothing that came after it; a ledger is read whatever it holds."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alarm_series import Kind, alarms_in, log_goodputs
from flowsweep.alarms.delivery.ledger import Deliveries


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    begin=st.integers(90, 230),
    length=st.integers(1, 90),
    change=st.sampled_from([-0.5, -0.15, 0.2]),
    cut=st.integers(80, 260),
    rho=st.sampled_from([0.0, 0.6]),
)
def test_a_longer_series_repeats_what_was_found(seed, begin, length, change, cut, rho):
    kind = Kind(3600.0, rho, missing=0.1, sigma=0.03)
    times_s, values = log_goodputs(kind, 11.0, np.random.default_rng(seed))
    values[begin : begin + length] += change
    whole = alarms_in(times_s, values)
    part = alarms_in(times_s[:cut], values[:cut])
    known = [one for one in whole if one.found_s <= times_s[cut - 1]]
    assert [(one.found_s, one.since_s, one.first_change) for one in part] == [
        (one.found_s, one.since_s, one.first_change) for one in known
    ]
    for then, now in zip(part, known, strict=True):
        if then.end is not None:
            assert then == now
        elif now.over_s is not None:
            assert now.over_s > times_s[cut - 1]


LINES = st.one_of(
    st.binary(max_size=40),
    st.builds(
        lambda key, outcome, at: json.dumps(
            {"key": key, "target": "mail", "outcome": outcome, "at_unix_s": at, "error": None}
        ).encode(),
        st.text(max_size=5),
        st.sampled_from(["tried", "delivered", "failed", "else"]),
        st.one_of(st.floats(0, 1e10), st.text(max_size=3), st.none()),
    ),
)


@given(st.lists(LINES, max_size=20))
def test_any_lines_of_a_ledger_are_read(lines):
    found = Deliveries.of_lines(lines)
    tried = sum(b'"tried"' in line and b'"target"' in line for line in lines)
    assert sum(one.tries for one in found.of.values()) <= tried
