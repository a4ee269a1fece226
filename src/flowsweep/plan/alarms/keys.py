"""Keys of `[alarms]`."""

import math
import re
from typing import Annotated, Literal

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Axis, Table, key
from flowsweep.plan.readers import Reader, matching, one_of, wrong

_URL = r"https?://[!-~]{1,2000}"
_MAIL = r"[!-?A-~]{1,64}@[A-Za-z0-9.-]{1,250}"
_SERVER = r"([A-Za-z0-9._-]{1,250}|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})"


def _read_url(value: object) -> str:
    return matching(value, _URL, 'an address such as "https://example.org/hook"')


def _read_mail(value: object) -> str:
    return matching(value, _MAIL, 'an address such as "noc@example.org"')


def _read_server(value: object) -> tuple[str, int]:
    expected = 'a server and its port such as "mail.example.org:587"'
    found = re.fullmatch(_SERVER, value) if isinstance(value, str) else None
    if found is None or not 1 <= int(found[2]) <= defaults.PORT_MAX:
        raise wrong(value, expected)
    return found[1].strip("[]"), int(found[2])


def _read_command(value: object) -> list[str]:
    if isinstance(value, list) and value and all(isinstance(part, str) and part for part in value):
        return value
    raise wrong(value, 'a program and its arguments such as ["notify-send", "Flowsweep"]; there is no shell')


def _read_rate(value: object) -> float:
    least, most = defaults.FALSE_ALARMS_MIN, defaults.FALSE_ALARMS_MAX
    found = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if least <= found <= most:
        return found
    raise wrong(value, f"a number from {least:g} to {most:g}")


Url = Annotated[str, Reader(_read_url, {"type": "string", "pattern": f"^{_URL}$"})]
MailAddress = Annotated[str, Reader(_read_mail, {"type": "string", "pattern": f"^{_MAIL}$"})]
Server = Annotated[tuple[str, int], Reader(_read_server, {"type": "string", "pattern": f"^{_SERVER}$"})]
Command = Annotated[
    list[str], Reader(_read_command, {"type": "array", "items": {"type": "string"}, "minItems": 1})
]
Rate = Annotated[
    float,
    Reader(
        _read_rate,
        {"type": "number", "minimum": defaults.FALSE_ALARMS_MIN, "maximum": defaults.FALSE_ALARMS_MAX},
    ),
]


class MailTable(Table):
    """Mail: to whom, and by which server."""

    to: Axis[MailAddress] = Field(description="Who gets it.", examples=[["noc@example.org"]])
    sender: MailAddress = Field(alias="from", description="Its sender.", examples=["flowsweep@example.org"])
    smtp: Server = Field(description="The server and its port.", examples=["mail.example.org:587"])
    encryption: Annotated[Literal["starttls", "tls", "none"], one_of("starttls", "tls", "none")] = key(
        "starttls: requested after connecting. tls: from the first byte on.", "starttls"
    )
    user: fields.UserName | None = key("User name for the server.", None, examples=["flowsweep"])
    password_env: fields.VariableName | None = key(
        "Name of the environment variable that holds this user's password.", None, examples=["SMTP_PASSWORD"]
    )


class AlarmsTable(Table):
    """Alarms of scheduled sweeps: each is sent once when it begins and once when it clears."""

    watch: Axis[Annotated[Literal["shift", "loss", "silent"], one_of("shift", "loss", "silent")]] = key(
        "shift: goodput or capacity lower, round-trip time higher than before. loss: more is lost than "
        "before. silent: a path was not measured for longer than it should be.",
        ["shift", "loss", "silent"],
    )
    false_alarms_per_100_days: Rate = key(
        "How often `shift` and `loss` of a path and direction may be false, on average.",
        defaults.FALSE_ALARMS_PER_100_DAYS,
    )
    webhook: Url | None = key(
        "Address to which an alarm is posted, as JSON.", None, examples=["https://example.org/hook"]
    )
    webhook_env: fields.VariableName | None = key(
        "Name of the environment variable that holds this address, where it is a secret.",
        None,
        examples=["FLOWSWEEP_WEBHOOK"],
    )
    command: Command = key(
        "Program that is started for an alarm, without a shell; the alarm is JSON on its standard input.",
        [],
        examples=[["/usr/local/bin/page", "--team", "net"]],
    )
    mail: MailTable | None = key("Mail for each alarm.", None)
