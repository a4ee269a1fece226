import pytest

from flowsweep.wording import (
    all_of,
    asked_windows,
    both_windows,
    counted,
    direction,
    format_change,
    format_sizes,
    format_sizes_alike,
    printable,
    rounds_to_nothing,
)


@pytest.mark.parametrize(("count", "said"), [(0, "0 trials"), (1, "1 trial"), (2, "2 trials")])
def test_one_is_not_many(count, said):
    assert counted(count, "trial") == said


def test_some_words_have_a_plural_of_their_own() -> None:
    assert [counted(tries, "try", "tries") for tries in (1, 2)] == ["1 try", "2 tries"]


@pytest.mark.parametrize(("count", "said"), [(1, "the only trial"), (2, "both trials"), (3, "all 3 trials")])
def test_all_of_two_are_both(count, said):
    assert all_of(count, "trial") == said


@pytest.mark.parametrize(
    ("percents", "nothing"),
    [
        ((0.04, -0.3, 0.3), True),
        ((-0.04, -0.3, 0.3), True),
        ((0.06, -0.3, 0.3), False),
        ((0.4, -120, 120), True),
    ],
)
def test_what_is_shown_as_nothing_is_known(percents, nothing):
    assert rounds_to_nothing(*percents) == nothing
    assert format_change(*percents).startswith(("0.0 %", "0 %")) == nothing


def test_a_direction_says_whether_the_way_back_runs_too():
    assert (direction("a", "b"), direction("a", "b", simultaneous=True)) == ("a → b", "a ⇄ b")


@pytest.mark.parametrize(
    ("send", "recv", "said"),
    [
        (65536, 65536, "64 KiB"),
        (65536, None, "64 KiB / auto"),
        (None, 8000, "auto / 8 KB"),
        (None, None, "auto"),
    ],
)
def test_windows_are_said_once_where_both_ends_are_alike(send, recv, said):
    assert both_windows(send, recv) == said


@pytest.mark.parametrize(
    ("send", "recv", "said"),
    [
        (65536, 65536, "64 KiB"),
        (65536, None, "64 KiB (send)"),
        (None, 8000, "8 KB (receive)"),
        (None, None, ""),
    ],
)
def test_a_window_that_an_imported_file_does_not_say_was_not_left_to_the_kernel(send, recv, said):
    trial = {"test": "tcp", "window_send_bytes": send, "window_recv_bytes": recv}
    assert asked_windows(trial | {"imported_from": "dated-table a.txt"}) == said


def test_what_a_terminal_would_act_on_is_marked():
    assert printable("a\x1b[31m\tb\n\u202ec\u00a0ä\x07") == "a\ufffd[31m\tb\n\ufffdc\u00a0ä\ufffd"


@pytest.mark.parametrize(
    ("sizes", "binary", "said"),
    [
        ((438_000, 401_000, 1 << 17), False, ("438 KB", "401 KB", "131 KB")),
        ((330_000, 1 << 18, 1 << 19), True, ("322 KiB", "256 KiB", "512 KiB")),
        ((106_000, 65_535), True, ("104 KiB", "64.0 KiB")),
    ],
)
def test_sizes_that_are_compared_have_units_of_one_kind(sizes, binary, said):
    assert format_sizes(*sizes, binary=binary) == said


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((7989723, 7 << 20, 7936 << 10), ("7.62 MiB", "7.00 MiB", "7.75 MiB")),
        ((16 << 20, 4 << 20), ("16 MiB", "4 MiB")),
        ((962 << 10, 906 << 10, 1045866), ("962 KiB", "906 KiB", "1020 KiB")),
        ((3264 << 10,), ("3.19 MiB",)),
    ],
)
def test_sizes_of_one_interval_have_one_unit(sizes: tuple[int, ...], said: tuple[str, ...]) -> None:
    assert format_sizes_alike(*sizes) == said
