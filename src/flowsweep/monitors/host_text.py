"""A host's kernel, asked by a shell there: the script, and how its answer is read. No I/O."""

import re
from collections.abc import Sequence

from flowsweep.monitors.quantities import UP_TIME
from flowsweep.monitors.reading import bounded

BEGIN, END = "flowsweep-begin", "flowsweep-end"
_FILES = (
    "/proc/uptime /proc/stat /proc/meminfo /proc/net/softnet_stat /proc/net/dev "
    "/sys/class/thermal/thermal_zone*/temp"
)
_PATTERN = r"^(cpu |MemTotal|MemAvailable)|: *[0-9]+ +[0-9]+ +[0-9]+|^[-0-9a-f. ]+$"
_ROOTS = "/^qdisc [^ ]* [^ ]* dev [^ ]* root/,/^ *Sent /p"
"""A device with many queues has a qdisc for each of them, of which nothing is wanted."""
SCRIPT = (
    f"while read -r _; do echo {BEGIN}; grep -E '{_PATTERN}' /dev/null {_FILES} 2>/dev/null; "
    f"tc -s qdisc show 2>/dev/null | sed -n '{_ROOTS}'; echo {END}; done"
)
"""Answers each line of its input, and ends when that does: two or three short processes a poll."""
LINES_MAX = 4096
"""Of an answer."""

Value = tuple[str, str, int]
_DEVICES_MAX = 64
_LINE = re.compile(r"(/[^:]*):(.*)")
_NAME = re.compile(r"[!-~]{1,64}")
_QDISC = re.compile(r"qdisc \S+ \S+ dev (\S+) root\b")
_SENT = re.compile(r" *Sent \d+ bytes \d+ pkt \(dropped (\d+), overlimits (\d+) requeues (\d+)\)")
_QDISC_COUNTERS = ("qdisc_dropped", "qdisc_overlimits", "qdisc_requeues")
_DEVICE_COLUMNS = {
    "in_bytes": 0, "in_packets": 1, "in_errors": 2, "in_discards": 3,
    "out_bytes": 8, "out_packets": 9, "out_errors": 10, "out_discards": 11,
}  # fmt: skip
"""Of a line of `/proc/net/dev`, behind the device's name."""
_SOFTNET_COLUMNS = {"softnet_processed": 0, "softnet_dropped": 1, "softnet_time_squeeze": 2}
_IDLE_COLUMNS = (3, 4)
"""Of the line `cpu` of `/proc/stat`: idle and iowait; guest time is in user time already."""
_CPU_COLUMNS = 8


def values_of(lines: Sequence[str]) -> tuple[Value, ...]:
    """Read an answer, the lines between `BEGIN` and `END`.

    Returns:
        Object, quantity and value of all that the host's kernel has; what cannot be read is left out.

    Raises:
        ValueError: There is no uptime, so this is no Linux: values of two polls could not be compared.
    """
    files: dict[str, list[str]] = {}
    rest = []
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            rest.append(line)
        else:
            files.setdefault(found[1], []).append(found[2])
    up_time = _up_time(files.pop("/proc/uptime", []))
    found_values = [("", UP_TIME, up_time)]
    found_values += _cpu(files.get("/proc/stat", []))
    found_values += _memory(files.get("/proc/meminfo", []))
    found_values += _softnet(files.get("/proc/net/softnet_stat", []))
    found_values += _devices(files.get("/proc/net/dev", []))
    found_values += _qdiscs(rest)
    for name, content in files.items():
        zone = name.removeprefix("/sys/class/thermal/").removesuffix("/temp")
        # Below 0 °C is left out: what is kept has no sign.
        if name != zone and _NAME.fullmatch(zone) and len(content) == 1 and content[0].isdecimal():
            found_values.append((zone, "temperature_mdegc", int(content[0])))
    return tuple(value for value in found_values if value[2] < 1 << 64)


def _up_time(lines: Sequence[str]) -> int:
    found = re.match(r"(\d{1,12})\.(\d\d) ", lines[0]) if lines else None
    if found is None:
        raise ValueError(f"it has no uptime in /proc: {bounded(' '.join(lines)) or 'nothing came'}")
    return int(found[1] + found[2])


def _cpu(lines: Sequence[str]) -> list[Value]:
    for line in lines:
        words = line.split()
        numbers = _numbers(words[1 : 1 + _CPU_COLUMNS])
        if words[:1] == ["cpu"] and len(numbers) > max(_IDLE_COLUMNS):
            total = sum(numbers)
            idle = sum(numbers[column] for column in _IDLE_COLUMNS)
            return [("cpu", "cpu_busy", total - idle), ("cpu", "cpu_total", total)]
    return []


def _memory(lines: Sequence[str]) -> list[Value]:
    names = {"MemTotal": "memory_total_bytes", "MemAvailable": "memory_available_bytes"}
    found = (re.fullmatch(r"(\w+): +(\d{1,18}) kB", line) for line in lines)
    return [("memory", names[one[1]], int(one[2]) << 10) for one in found if one and one[1] in names]


def _softnet(lines: Sequence[str]) -> list[Value]:
    """Cores together; 32 bits of each, and of the sum."""
    cores = [line.split() for line in lines]
    found = []
    for name, column in _SOFTNET_COLUMNS.items():
        texts = [words[column] for words in cores if len(words) > column]
        if texts and all(re.fullmatch(r"[0-9a-f]{1,8}", text) for text in texts):
            found.append(("softnet", name, sum(int(text, 16) for text in texts) % (1 << 32)))
    return found


def _devices(lines: Sequence[str]) -> list[Value]:
    found = []
    for line in lines[:_DEVICES_MAX]:
        name, _, rest = line.strip().rpartition(": ") if ": " in line else line.strip().partition(":")
        numbers = _numbers(rest.split())
        if _NAME.fullmatch(name) and len(numbers) > max(_DEVICE_COLUMNS.values()):
            found += [(name, counter, numbers[column]) for counter, column in _DEVICE_COLUMNS.items()]
    return found


def _qdiscs(lines: Sequence[str]) -> list[Value]:
    """Of the roots, which count for all that is below them."""
    found = []
    device = None
    for line in lines[: 8 * _DEVICES_MAX]:
        if line.startswith("qdisc"):
            root = _QDISC.match(line)
            device = root[1] if root is not None and _NAME.fullmatch(root[1]) else None
        elif device is not None and (sent := _SENT.match(line)) is not None:
            counted = zip(_QDISC_COUNTERS, sent.groups(), strict=True)
            found += [(device, name, int(text) % (1 << 32)) for name, text in counted]
            device = None
    return found


def _numbers(words: Sequence[str]) -> list[int]:
    """Numbers, as far as words are some."""
    numbers = []
    for word in words:
        if not re.fullmatch(r"[0-9]{1,20}", word):
            break
        numbers.append(int(word))
    return numbers
