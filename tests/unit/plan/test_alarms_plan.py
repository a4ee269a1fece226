"""`[alarms]` of a plan; what is wrong with one is in tests/contract/plans/wrong."""

from alarm_archives import plan_of
from flowsweep.plan import plan_difference

MAIL = 'mail = { to = "noc@example.org", from = "f@example.org", smtp = "[::1]:25" }'


def test_what_is_absent_is_as_the_reference_says() -> None:
    assert plan_of().alarms is None
    alarms = plan_of("[alarms]").alarms
    assert alarms is not None
    assert (alarms.watch, alarms.false_alarms_per_100_days) == (("shift", "loss", "silent"), 1.0)
    assert alarms.targets == ()


def test_all_ways_can_be_there() -> None:
    alarms = plan_of(f'[alarms]\nwebhook_env = "HOOK"\ncommand = ["page"]\n{MAIL}').alarms
    assert alarms is not None
    assert alarms.targets == ("webhook", "command", "mail")
    assert alarms.mail is not None
    assert (alarms.mail.host, alarms.mail.port, alarms.mail.encryption) == ("::1", 25, "starttls")


def test_a_campaign_may_go_on_with_other_alarms() -> None:
    assert plan_difference(plan_of(), plan_of('[alarms]\ncommand = ["page"]')) == ()
