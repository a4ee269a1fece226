import pytest

from flowsweep.wording import asked_windows, both_windows, counted, direction, format_sizes, printable


@pytest.mark.parametrize(("count", "said"), [(0, "0 trials"), (1, "1 trial"), (2, "2 trials")])
def test_one_is_not_many(count, said):
    assert counted(count, "trial") == said


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
