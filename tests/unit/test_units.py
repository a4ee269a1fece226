import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowsweep import units, wording
from flowsweep.plan import readers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30s", 30 * 10**9),
        ("87.5ms", 87_500_000),
        ("2min", 120 * 10**9),
        ("1 h", 3600 * 10**9),
        ("5us", 5_000),
    ],
)
def test_durations(text, expected):
    assert units.parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8KB", 8_000),
        ("8KiB", 8_192),
        ("1.1MB", 1_100_000),
        ("0.5MiB", 524_288),
        ("2GiB", 1 << 31),
        ("7B", 7),
        ("1.5TB", 1_500_000_000_000),
        ("2TiB", 1 << 41),
    ],
)
def test_sizes(text, expected):
    assert units.parse_size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("100Mbit/s", 10**8), ("2.5Gbit/s", 2_500_000_000), ("64kbit/s", 64_000), ("1bit/s", 1)],
)
def test_rates(text, expected):
    assert units.parse_rate(text) == expected


@pytest.mark.parametrize(
    ("parse", "text", "told"),
    [
        (units.parse_duration, "30", 'write "30s"'),
        (units.parse_size, "65536", 'write "65536B"'),
        (units.parse_size, "64", 'write "64KiB"'),
        (units.parse_rate, "100", 'write "100Mbit/s"'),
        (units.parse_rate, "1000000000", 'write "1Gbit/s"'),
        (units.parse_duration, "5 sec", 'did you mean "5s"'),
        (units.parse_duration, "5µs", 'did you mean "5us"'),
        (units.parse_duration, "5\N{GREEK SMALL LETTER MU}s", 'did you mean "5us"'),
        (units.parse_size, "64k", 'did you mean "64KiB"'),
        (units.parse_rate, "10Mbps", 'did you mean "10Mbit/s"'),
        (units.parse_rate, "50MB/s", 'did you mean "400Mbit/s"'),
        (units.parse_rate, "50Mbyte/s", 'did you mean "400Mbit/s"'),
        (units.parse_rate, "50 mbyte/s", 'did you mean "400Mbit/s"'),
        (units.parse_rate, "25kbytes/s", 'did you mean "200kbit/s"'),
        (units.parse_rate, "1MiByte/s", 'did you mean "8388608bit/s"'),
        (units.parse_rate, "50megabyte/s", r'"megabyte/s" is not a unit of a rate \(units'),
        (units.parse_rate, "1.5GBps", 'did you mean "12Gbit/s"'),
        (units.parse_rate, "1MiB/s", 'did you mean "8388608bit/s"'),
        (units.parse_rate, "50Mb/s", 'did you mean "50Mbit/s"'),
        (units.parse_rate, "9bps", 'did you mean "9bit/s"'),
        (units.parse_rate, "1Tbit/s", 'did you mean "1000Gbit/s"'),
        (units.parse_rate, "1.5Tbps", 'did you mean "1500Gbit/s"'),
        (units.parse_rate, "1TB/s", 'did you mean "8000Gbit/s"'),
        (units.parse_size, "2t", 'did you mean "2TiB"'),
        (units.parse_size, "0.1KiB", "a whole number of B"),
        (units.parse_duration, "-1s", "is negative"),
        (units.parse_duration, "99999999999h", "too large"),
        (units.parse_duration, "1e3s", "is not a duration"),
        (units.parse_size, "9" * 5_000, "is not a size"),
    ],
)
def test_errors_say_what_to_write(parse, text, told):
    with pytest.raises(units.QuantityError, match=told):
        parse(text)


@pytest.mark.parametrize(
    ("reader", "number", "told"),
    [
        (readers.size(88, 32_767), 500, 'write "500B"'),
        (readers.size(1, 1 << 30), 500, 'write "500KiB"'),
        (readers.size(88, 32_767), 2, 'write "2KiB"'),
        (readers.size(88, 32_767), 80_000, 'write "80000B"'),
        (readers.duration(0, 60_000_000_000), 100, 'write "100ms"'),
        (readers.duration(0, 60_000_000_000), 30, 'write "30s"'),
    ],
)
def test_what_is_proposed_is_allowed_if_anything_is(reader, number, told):
    with pytest.raises(units.QuantityError, match=told):
        reader.read(number)


@pytest.mark.parametrize(
    ("rate_bps", "shown"),
    [
        (0, "0 bit/s"),
        (193e6, "193 Mbit/s"),
        (5.2e9, "5.20 Gbit/s"),
        (999.6, "1.00 kbit/s"),
        (-1_500, "-1.50 kbit/s"),
        (2.345e12, "2340 Gbit/s"),
    ],
)
def test_rates_are_shown_with_three_digits(rate_bps, shown):
    assert wording.format_rate(rate_bps) == shown


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (0, "0 B"),
        (524_288, "512 KiB"),
        (1_572_864, "1536 KiB"),
        (8_000, "8 KB"),
        (1_100_000, "1.10 MB"),
        (123_456_789, "123 MB"),
        (2_040_000_000_001, "2.04 TB"),
    ],
)
def test_sizes_are_shown_exactly_where_that_is_short(size_bytes, shown):
    assert wording.format_size(size_bytes) == shown


@pytest.mark.parametrize(
    ("duration_ns", "shown"),
    [
        (0, "0 s"),
        (750 * 10**9, "12 min 30 s"),
        (7_500 * 10**9, "2 h 5 min"),
        (3_600 * 10**9, "1 h"),
        (59_960_000_000, "1 min"),
        (3_599_900_000_000, "1 h"),
        (30 * 10**9, "30 s"),
        (1_200_000, "1.20 ms"),
        (87_500_000, "87.5 ms"),
        (-1_500, "-1.50 us"),
    ],
)
def test_durations_are_shown_as_people_say_them(duration_ns, shown):
    assert wording.format_duration(duration_ns) == shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0.987, "98.7 %"), (1, "100 %"), (0, "0 %"), (0.0512, "5.12 %")]
)
def test_shares_are_percentages(share, shown):
    assert wording.format_share(share) == shown


amounts = st.integers(min_value=0, max_value=units.LARGEST)


@given(amounts)
def test_what_is_written_is_read_back(amount):
    assert units.parse_duration(units.write_duration(amount)) == amount
    assert units.parse_size(units.write_size(amount)) == amount
    assert units.parse_rate(units.write_rate(amount)) == amount


@given(st.integers(min_value=0, max_value=10**12))
def test_what_is_shown_is_close(amount):
    assert units.parse_size(_unspaced(wording.format_size(amount), "TB", "000GB")) == pytest.approx(
        amount, rel=0.006
    )
    assert units.parse_rate(wording.format_rate(amount)) == pytest.approx(amount, rel=0.006)


@given(st.integers(min_value=0, max_value=59 * 10**9))
def test_a_short_duration_is_shown_close(amount):
    assert units.parse_duration(wording.format_duration(amount)) == pytest.approx(amount, rel=0.006)


@given(st.text())
def test_any_text_is_a_quantity_or_an_error_that_says_so(text):
    for parse in (units.parse_duration, units.parse_size, units.parse_rate):
        try:
            parsed = parse(text)
        except units.QuantityError:
            continue
        assert 0 <= parsed <= units.LARGEST


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15))
def test_any_measured_number_can_be_shown(value):
    for show in (wording.format_rate, wording.format_size, wording.format_duration, wording.format_share):
        assert "e" not in show(value)


def _unspaced(text: str, unit: str, replacement: str) -> str:
    """A terabyte is shown, but no plan needs it."""
    number, _, found = text.partition(" ")
    return f"{float(number):.0f}{replacement}" if found == unit else number + found
