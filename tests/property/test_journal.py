"""The journal's file under every cut and every changed byte."""

from hypothesis import given
from hypothesis import strategies as st

from flowsweep.archive.journal import PAYLOAD_BEGIN, Content, frame, parse

payload = st.binary(min_size=1, max_size=40).map(lambda words: PAYLOAD_BEGIN + words)
payloads = st.lists(payload, min_size=1, max_size=5)


@given(payloads, st.data())
def test_a_cut_loses_only_the_record_it_goes_through(kept: list[bytes], data: st.DataObject) -> None:
    records = [frame(payload) for payload in kept]
    whole = b"".join(records)
    cut = data.draw(st.integers(0, len(whole)))
    ends = [sum(map(len, records[: count + 1])) for count in range(len(records))]
    survivors = sum(end <= cut for end in ends)
    end = [0, *ends][survivors]
    assert parse(whole[:cut], "journal") == Content(tuple(kept[:survivors]), end, cut - end, ())


@given(payloads, st.data())
def test_a_changed_byte_costs_the_record_it_is_in_and_is_told(kept: list[bytes], data: st.DataObject) -> None:
    records = [frame(payload) for payload in kept]
    changed = bytearray(b"".join(records))
    position = data.draw(st.integers(0, len(changed) - 1))
    changed[position] = data.draw(st.integers(0, 255).filter(lambda byte: byte != changed[position]))
    starts = [sum(map(len, records[:count])) for count in range(len(records))]
    hit = max(number for number, start in enumerate(starts) if start <= position)
    found = parse(bytes(changed), "journal")
    assert found.payloads == tuple(kept[:hit] + kept[hit + 1 :])
    if hit == len(kept) - 1:
        assert (found.whole_bytes, found.tail_bytes) == (starts[hit], len(records[hit]))
        assert found.damaged == ()
    else:
        assert found.tail_bytes == 0
        assert found.damaged == (range(starts[hit], starts[hit] + len(records[hit])),)


@given(payloads, st.integers(1, 100))
def test_zero_bytes_at_the_end_are_a_tail(kept: list[bytes], zeros: int) -> None:
    whole = b"".join(map(frame, kept))
    assert parse(whole + bytes(zeros), "journal") == Content(tuple(kept), len(whole), zeros, ())


@given(st.binary(max_size=400))
def test_any_bytes_are_taken_apart(data: bytes) -> None:
    found = parse(data, "journal")
    assert found.whole_bytes + found.tail_bytes == len(data)
