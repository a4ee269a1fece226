"""What must agree in `[alarms]`, and what becomes of it."""

from collections.abc import Iterator

from pydantic import ValidationError

from flowsweep.plan.alarms.keys import AlarmsTable, MailTable
from flowsweep.plan.alarms.model import Alarms, Mail
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import Problem
from flowsweep.plan.times.build import has_times

_ALARMS = "alarms"


def alarms_problems(file: PlanFile) -> Iterator[Problem]:
    """Find what contradicts itself in alarms."""
    alarms = file.alarms
    if alarms is None:
        return
    if not any(has_times(file.campaign, sweep) for sweep in file.sweep):
        message = "has no effect: no sweep has `every` or `at`, and a campaign that runs once has no before"
        yield Problem(
            (_ALARMS,), f"{message}; leave it out, or say when a sweep runs", (("sweep",), ("campaign",))
        )
    yield from _own_problems(alarms)


def refusal_of(alarms: Alarms) -> str | None:
    """Why no plan's file can have said this, which an archive says; None if one can have."""
    try:
        table = _table_of(alarms)
    except ValidationError as error:
        [first, *_] = error.errors()
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    problem = next(_own_problems(table), None)
    return None if problem is None else f"{'.'.join(map(str, problem.path))}: {problem.message}"


def _own_problems(alarms: AlarmsTable) -> Iterator[Problem]:
    if alarms.webhook is not None and alarms.webhook_env is not None:
        message = "found together with `webhook`, expected one of them"
        yield Problem((_ALARMS, "webhook_env"), message, ((_ALARMS, "webhook"),))
    if alarms.mail is None:
        return
    pair = {"user": alarms.mail.user, "password_env": alarms.mail.password_env}
    for here, other in (("user", "password_env"), ("password_env", "user")):
        if pair[here] is not None and pair[other] is None:
            message = f"has no effect without `{other}`; leave it out, or add that"
            yield Problem((_ALARMS, "mail", here), message, ((_ALARMS, "mail", other),))
    if alarms.mail.user is not None and alarms.mail.encryption == "none":
        message = (
            'found "none", expected "starttls" or "tls" with a `user`: a password is not sent in the clear'
        )
        yield Problem((_ALARMS, "mail", "encryption"), message, ((_ALARMS, "mail", "user"),))


def alarms_of(table: AlarmsTable) -> Alarms:
    """Make the frozen form of a table without problems."""
    return Alarms(
        watch=tuple(table.watch),
        false_alarms_per_100_days=table.false_alarms_per_100_days,
        webhook=table.webhook,
        webhook_env=table.webhook_env,
        command=tuple(table.command),
        mail=None if table.mail is None else _mail(table.mail),
    )


def _table_of(alarms: Alarms) -> AlarmsTable:
    """The table that a plan's file has for this.

    Raises:
        ValidationError: None can have it.
    """
    said = alarms.model_dump(exclude={"mail"}, exclude_none=True)
    said |= {"watch": list(alarms.watch), "command": list(alarms.command)}
    if not alarms.command:
        del said["command"]
    if (mail := alarms.mail) is not None:
        host = f"[{mail.host}]" if ":" in mail.host else mail.host
        own = mail.model_dump(exclude={"host", "port", "sender"}, exclude_none=True)
        said["mail"] = own | {"to": list(mail.to), "from": mail.sender, "smtp": f"{host}:{mail.port}"}
    return AlarmsTable.model_validate(said)


def _mail(table: MailTable) -> Mail:
    host, port = table.smtp
    return Mail(
        to=tuple(table.to),
        sender=table.sender,
        host=host,
        port=port,
        encryption=table.encryption,
        user=table.user,
        password_env=table.password_env,
    )
