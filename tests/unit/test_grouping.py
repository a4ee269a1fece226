"""Rows put together by what they have in common."""

from flowsweep.grouping import grouped


def test_rows_of_a_key_are_together_and_all_keep_their_order() -> None:
    found = grouped(["ab", "c", "de", "f", "a"], len)
    assert list(found.items()) == [(2, ["ab", "de"]), (1, ["c", "f", "a"])]


def test_no_rows_make_no_group() -> None:
    assert grouped(iter(()), len) == {}
