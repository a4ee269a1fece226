"""What `compare` says of two campaigns that have no point in common."""

from pathlib import Path

from invoked import invoke

ARCHIVES = Path(__file__).parents[2] / "contract" / "numbers" / "archives"


def refused(a: str, b: str) -> str:
    return str(invoke("compare", ARCHIVES / a, ARCHIVES / b).exception)


def test_tests_without_goodput_are_no_failures() -> None:
    assert "rtt: of 18 trials none measures goodput, so" in refused("rtt", "path")


def test_what_a_test_has_not_is_no_default_of_a_host() -> None:
    told = refused("tcp", "quic")
    assert "GSO (does not apply in A, on in B)" in told
    assert "mode (copy, zerocopy in A, does not apply in B)" in told
    assert "default" not in told


def test_what_nobody_told_is_not_known() -> None:
    told = refused("imported", "tcp")
    assert "duration (4 s, not known, 3 s in A" in told
    assert "default" not in told
