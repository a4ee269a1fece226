"""Methods of findings: each is said once, and what is nearly alike is told by its difference."""

from flowsweep.analysis.findings.methods import Methods


def test_each_method_has_one_number_in_the_order_of_its_first_use() -> None:
    methods = Methods(["counted", "t; n = 3", "counted"])
    assert [methods.number(one) for one in ("counted", "t; n = 3")] == [1, 2]
    assert methods.notes == ("counted", "t; n = 3")


def test_a_method_that_differs_in_a_clause_is_told_by_it_and_refers_to_one_said_in_full() -> None:
    methods = Methods(["model; n = 3; t", "model; n = 4; t", "model; n = 4; F"])
    assert methods.notes == ("model; n = 3; t", "as 1, but n = 4", "as 1, but n = 4; F")


def test_a_method_that_lacks_a_clause_is_said_in_full() -> None:
    methods = Methods(["model; n = 3; knee", "model; n = 3", "other; n = 3"])
    assert methods.notes == ("model; n = 3; knee", "model; n = 3", "other; n = 3")
