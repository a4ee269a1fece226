"""Whether a lab can be made is found out by an attempt, of which nothing stays."""

import pytest

from flowsweep.errors import LaunchError
from flowsweep.lab import possible
from flowsweep.lab.leftovers import existing_namespaces
from flowsweep.lab.owner import Owner

MAY = pytest.mark.skipif(not possible.may_administer_networks(), reason="this user may not make namespaces")


@pytest.fixture(autouse=True)
def nothing_stays():
    yield
    mark = Owner.this_process().mark
    assert not [name for name in existing_namespaces() if name.startswith(mark)]


@MAY
def test_nothing_speaks_against_a_lab_where_one_can_be_made():
    assert possible.lab_possible() is None


@MAY
@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("type veth peer name side0", "type no_such_type", "load or build the module veth"),
        (" tbf ", " no_such_qdisc ", "load or build the module sch_tbf"),
        ("/dev/net/tun ", "/dev/net/none ", "load the kernel module tun"),
    ],
)
def test_what_the_kernel_lacks_is_named_with_its_remedy(before, after, reason, monkeypatch):
    assert before in possible.ATTEMPT
    monkeypatch.setattr(possible, "ATTEMPT", possible.ATTEMPT.replace(before, after))
    assert reason in (possible.lab_possible() or "")


@MAY
def test_an_installation_without_an_engine_says_so(monkeypatch):
    def missing():
        raise LaunchError("this machine", "the engine is not installed")

    monkeypatch.setattr(possible, "engine_path", missing)
    assert "the engine is not installed" in (possible.lab_possible() or "")


def test_a_missing_program_is_told_first(monkeypatch):
    monkeypatch.setattr(possible, "first_missing", lambda _: "a lab needs `tc`")
    assert possible.lab_possible() == "a lab needs `tc`"
