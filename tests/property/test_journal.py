"""The journal's file under every cut and every changed byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowsweep.archive.journal import frame, parse
from flowsweep.errors import ArchiveError

payload = st.lists(st.integers(1, 255), min_size=1, max_size=40).map(bytes)
"""JSON: never empty, and no zero byte in it."""
payloads = st.lists(payload, min_size=1, max_size=5)


@given(payloads, st.data())
def test_a_cut_loses_only_the_record_it_goes_through(kept: list[bytes], data: st.DataObject) -> None:
    records = [frame(payload) for payload in kept]
    whole = b"".join(records)
    cut = data.draw(st.integers(0, len(whole)))
    ends = [sum(map(len, records[: count + 1])) for count in range(len(records))]
    survivors = sum(end <= cut for end in ends)
    content = parse(whole[:cut], "journal")
    assert content.payloads == tuple(kept[:survivors])
    assert content.whole_bytes == ([0, *ends][survivors])


@given(payloads, st.data())
def test_a_changed_byte_is_named_with_the_record_it_is_in(kept: list[bytes], data: st.DataObject) -> None:
    records = [frame(payload) for payload in kept]
    changed = bytearray(b"".join(records))
    position = data.draw(st.integers(0, len(changed) - 1))
    changed[position] = data.draw(st.integers(1, 255).filter(lambda byte: byte != changed[position]))
    starts = [sum(map(len, records[:count])) for count in range(len(records))]
    start = max(start for start in starts if start <= position)
    with pytest.raises(ArchiveError, match=rf"^journal: the record at byte {start} has changed"):
        parse(bytes(changed), "journal")


@given(payloads, st.data())
def test_what_was_not_written_of_the_last_record_when_power_went_is_torn(
    kept: list[bytes], data: st.DataObject
) -> None:
    """The file has its final size, but a part of the last payload is zero bytes, or all from a byte on."""
    *_, last = records = [frame(payload) for payload in kept]
    whole = b"".join(records[:-1])
    begin = data.draw(st.integers(0, len(last) - 1))
    end = len(last) if begin < len(last) - len(kept[-1]) else data.draw(st.integers(begin + 1, len(last)))
    unwritten = last[:begin] + bytes(end - begin) + last[end:]
    content = parse(whole + unwritten, "journal")
    assert content.payloads == tuple(kept[:-1])
    assert content.whole_bytes == len(whole)


@given(payloads, st.integers(1, 100))
def test_zero_bytes_at_the_end_are_a_tail_that_was_never_written(kept: list[bytes], zeros: int) -> None:
    whole = b"".join(map(frame, kept))
    content = parse(whole + bytes(zeros), "journal")
    assert content.payloads == tuple(kept)
    assert content.whole_bytes == len(whole)
