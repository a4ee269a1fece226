"""Types of the values in a plan file, and what all of its tables have in common."""

import ipaddress
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from flowsweep import defaults, units
from flowsweep.frozen import Frozen
from flowsweep.plan.readers import (
    Reader,
    duration,
    matching,
    probability,
    rate,
    shown,
    size,
    spacing,
    whole,
    wrong,
)

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}"
NAME_EXPECTED = 'a name of letters, digits, "-", "_" and ".", at most 63'


def _read_name(value: object) -> str:
    return matching(value, NAME_PATTERN, NAME_EXPECTED)


def _read_title(value: object) -> str:
    return matching(value, r"\S(.{0,98}\S)?", "a line of at most 100 characters")


def _read_cpus(value: object) -> tuple[int, ...]:
    expected = 'a Linux CPU list such as "0-1,3"'
    text = matching(value, r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", expected)
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if int(last or first) > defaults.CPU_MAX or int(first) > int(last or first):
            raise wrong(value, f"{expected}, lowest first, none above {defaults.CPU_MAX}")
        cpus.extend(range(int(first), int(last or first) + 1))
    if len(set(cpus)) < len(cpus):
        raise wrong(value, "each CPU once")
    return tuple(cpus)


def _read_ports(value: object) -> tuple[int, int]:
    expected = 'a range of ports such as "5300-5400"'
    first, _, last = matching(value, r"[0-9]{1,5}(-[0-9]{1,5})?", expected).partition("-")
    ports = int(first), int(last or first)
    if 1 <= ports[0] <= ports[1] <= defaults.PORT_MAX:
        return ports
    raise wrong(value, f"{expected}, lowest first, from 1 to {defaults.PORT_MAX}")


def _read_user(value: object) -> str:
    return matching(value, r"\S+", 'a user name without white space, such as "anna"')


def _read_variable(value: object) -> str:
    expected = 'the name of an environment variable, such as "IPERF3_PASSWORD"'
    return matching(value, r"[A-Za-z_][A-Za-z0-9_]*", expected)


def _read_address(value: object) -> str:
    """Names are checked by whoever resolves them; what can be seen here is a port or brackets."""
    text = matching(value, r"[^\s\[\]/]+", 'a host name or an IP address, without port, such as "192.0.2.7"')
    if ":" in text:
        _ip_address(text, "a host name or an IP address; ports are a key of their own")
    return text


def _read_bind(value: object) -> str:
    expected = 'an IP address of that host such as "192.0.2.7"'
    return _ip_address(matching(value, r"\S+", expected), expected)


def _read_folder(value: object) -> str:
    return matching(value, r"/[^\0\n]*", 'an absolute path such as "/data/flowsweep"')


def _read_launch(value: object) -> list[str]:
    if isinstance(value, list) and all(isinstance(part, str) and part for part in value):
        return value
    parts = value.split() if isinstance(value, str) else []
    raise wrong(value, f"a list of arguments such as {shown(parts or ['ssh', 'nas.example.org'])}")


_WINDOW = size(1, defaults.WINDOW_MAX_BYTES)


def _read_window(value: object) -> object:
    if value == "auto":
        raise wrong(value, 'a size such as "64KiB"; leave the key out for the kernel\'s autotuning')
    return _WINDOW.read(value)


_PROBE_SIZE = size(defaults.PROBE_SIZE_MIN_BYTES, defaults.PROBE_SIZE_MAX_BYTES)
_PROBE_SIZES_SCHEMA = {
    "type": "array",
    "items": dict(_PROBE_SIZE.schema),
    "minItems": defaults.PROBE_SIZES_MIN,
    "maxItems": defaults.PROBE_SIZES_MAX,
    "uniqueItems": True,
}


def _read_probe_sizes(value: object) -> object:
    few, many = defaults.PROBE_SIZES_MIN, defaults.PROBE_SIZES_MAX
    sizes = [_PROBE_SIZE.read(size) for size in value] if isinstance(value, list) else []
    if not few <= len(sizes) <= many or len(set(sizes)) < len(sizes):
        example = '["600B", "900B", "1200B", "1400B"]'
        raise wrong(value, f"a list of {few} to {many} different sizes such as {example}")
    return tuple(sizes)


_ICMP_INTERVAL = duration(0, defaults.ICMP_INTERVAL_MAX_NS)


def _read_icmp_interval(value: object) -> object:
    parsed = _ICMP_INTERVAL.read(value)
    if isinstance(parsed, int) and parsed % defaults.MILLISECOND_NS:
        raise wrong(value, "whole milliseconds, which is what the kernel counts in")
    return parsed


def _ip_address(text: str, expected: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise wrong(text, expected) from None
    return text


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


Item = TypeVar("Item")


def each_once(values: list[Item]) -> list[Item]:
    """Return a list of different values; raises ValueError where two are the same."""
    for index, value in enumerate(values):
        if value in values[:index]:
            first = values.index(value)
            places = f"at places {first + 1} and {index + 1} of the list"
            raise ValueError(f"found the same value twice, {places}, expected each value once")
    return values


def range_words(bounds: tuple[float, float]) -> str:
    """Write the shares between which a key lies, as a plan has them, for its description."""
    least, most = (f"{100 * bound:g}%" for bound in bounds)
    return f"{least} to {most}"


def _within(bounds: tuple[float, float]) -> AfterValidator:
    """Refuse shares that are not between two."""
    least, most = bounds

    def within(value: float) -> float:
        if not least <= value <= most:
            raise ValueError(f"found {100 * value:.3g}%, expected {range_words(bounds)}")
        return value

    return AfterValidator(within)


class _AxisSchema:
    """An axis is a scalar or a list."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        listed: dict[str, Any] = handler(schema)
        return {"anyOf": [listed["items"], {**listed, "uniqueItems": True}]}


Axis = Annotated[
    list[Item], Field(min_length=1), AfterValidator(each_once), BeforeValidator(_as_list), _AxisSchema()
]

Flows = Annotated[int, whole(1, defaults.FLOWS_MAX)]
Repeats = Annotated[int, whole(1, defaults.REPEATS_MAX)]
Concurrent = Annotated[int, whole(1, defaults.CONCURRENT_MAX)]
Seed = Annotated[int, whole(0, units.LARGEST)]
Dscp = Annotated[int, whole(0, 63)]
Duration = Annotated[int, duration(defaults.SAMPLE_INTERVAL_MIN_NS, defaults.DURATION_MAX_NS)]
SampleInterval = Annotated[int, duration(defaults.SAMPLE_INTERVAL_MIN_NS, defaults.SAMPLE_INTERVAL_MAX_NS)]
Aside = Annotated[int, duration(0, defaults.ASIDE_MAX_NS)]
Omit = Annotated[int, duration(0, defaults.DURATION_MAX_NS)]
Spacing = Annotated[int, spacing(1, defaults.SPACING_MAX_NS)]
Pause = Annotated[int, duration(defaults.PROBE_EVERY_MIN_NS, defaults.SAMPLE_INTERVAL_MAX_NS)]
Patience = Annotated[int, duration(defaults.MILLISECOND_NS, defaults.SAMPLE_INTERVAL_MAX_NS)]
HopLimit = Annotated[int, whole(0, 255)]
ProbeSizes = Annotated[tuple[int, ...], Reader(_read_probe_sizes, _PROBE_SIZES_SCHEMA)]
Probes = Annotated[int, whole(1, defaults.PROBES_MAX)]
Trains = Annotated[int, whole(0, defaults.TRAINS_MAX)]
TrainPackets = Annotated[int, whole(defaults.TRAIN_PACKETS_MIN, defaults.TRAIN_PACKETS_MAX)]
TrainLength = Annotated[int, size(defaults.TRAIN_MIN_BYTES, defaults.PROBE_SIZE_MAX_BYTES)]
StreamPackets = Annotated[int, whole(defaults.TRAIN_PACKETS_MIN, defaults.TRAIN_PACKETS_MAX)]
StreamRates = Annotated[int, whole(1, defaults.PROBES_MAX)]
Length = Annotated[int, size(1, defaults.LENGTH_MAX_BYTES)]
Window = Annotated[int, Reader(_read_window, _WINDOW.schema)]
WindowSum = Annotated[int, size(1, units.LARGEST)]
SegmentSize = Annotated[int, size(defaults.MSS_MIN_BYTES, defaults.MSS_MAX_BYTES)]
QuicDatagram = Annotated[int, size(defaults.QUIC_DATAGRAM_MIN_BYTES, defaults.DATAGRAM_MAX_BYTES)]
Queue = Annotated[int, size(defaults.QUEUE_MIN_BYTES, defaults.QUEUE_MAX_BYTES)]
Burst = Annotated[int, size(defaults.MTU_MIN_BYTES, defaults.QUEUE_MAX_BYTES)]
CrossPacket = Annotated[int, size(defaults.CROSS_PACKET_MIN_BYTES, defaults.MTU_MAX_BYTES)]
Period = Annotated[int, duration(defaults.MILLISECOND_NS, defaults.PERIOD_MAX_NS)]
QueuePackets = Annotated[int, whole(1, defaults.QUEUE_MAX_PACKETS)]
DelayLimit = Annotated[int, duration(defaults.MICROSECOND_NS, defaults.LINK_DELAY_MAX_NS)]
LinkDelay = Annotated[int, duration(0, defaults.LINK_DELAY_MAX_NS)]
IcmpInterval = Annotated[int, Reader(_read_icmp_interval, _ICMP_INTERVAL.schema)]
Chance = Annotated[float, probability()]
Precision = Annotated[float, probability(), _within(defaults.SEARCH_PRECISIONS)]
Confidence = Annotated[float, probability(), _within(defaults.SEARCH_CONFIDENCES)]
Mtu = Annotated[int, size(defaults.MTU_MIN_BYTES, defaults.MTU_MAX_BYTES)]
Rate = Annotated[int, rate(1)]
RateResolution = Annotated[int, rate(defaults.RATE_RESOLUTION_MIN_BPS)]
LinkRate = Annotated[int, rate(defaults.LINK_RATE_MIN_BPS)]
Name = Annotated[str, Reader(_read_name, {"type": "string", "pattern": f"^{NAME_PATTERN}$"})]
TwoSides = Annotated[
    list[Name],
    Field(min_length=2, max_length=2, json_schema_extra={"uniqueItems": True}),
    AfterValidator(each_once),
]
Members = Annotated[
    list[Name], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(each_once)
]
Title = Annotated[str, Reader(_read_title, {"type": "string", "minLength": 1, "maxLength": 100})]
Cpus = Annotated[
    tuple[int, ...], Reader(_read_cpus, {"type": "string", "pattern": r"^\d+(-\d+)?(,\d+(-\d+)?)*$"})
]
Port = Annotated[int, whole(1, defaults.PORT_MAX)]
UserName = Annotated[str, Reader(_read_user, {"type": "string", "pattern": r"^\S+$"})]
VariableName = Annotated[
    str, Reader(_read_variable, {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})
]
Ports = Annotated[
    tuple[int, int], Reader(_read_ports, {"type": "string", "pattern": r"^\d{1,5}(-\d{1,5})?$"})
]
Launch = Annotated[list[str], Reader(_read_launch, {"type": "array", "items": {"type": "string"}})]
Address = Annotated[str, Reader(_read_address, {"type": "string", "pattern": r"^[^\s\[\]/]+$"})]
Folder = Annotated[str, Reader(_read_folder, {"type": "string", "pattern": "^/"})]
FileSize = Annotated[int, size(1, defaults.FILE_MAX_BYTES)]
BindAddress = Annotated[str, Reader(_read_bind, {"type": "string"})]


Value = TypeVar("Value")


def key(
    description: str, default: Value, *, written: JsonValue = None, examples: list[Any] | None = None
) -> Value:
    """Declare a key: what it means, its checked default, and how a plan would write that default."""
    extra: dict[str, JsonValue] | None = None if written is None else {"default": written}
    field: Value = Field(default=default, description=description, examples=examples, json_schema_extra=extra)
    return field


class Table(Frozen):
    """Base of all tables: no other keys, no conversions."""

    model_config = ConfigDict(strict=True)
