"""Crons in words."""

import pytest

from scheduling.algebra.cron_words import cron_words


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("0 * * * *", "every hour"),
        ("@hourly", "every hour"),
        ("15 * * * *", "every hour at minute 15"),
        ("5,35 * * * *", "every hour at minutes 5 and 35"),
        ("0 */2 * * *", "every 2 hours"),
        ("30 */6 * * *", "every 6 hours at minute 30"),
        ("@daily", "every day at 00:00"),
        ("0 6 * * 1-5", "on weekdays at 06:00"),
        ("0 8,20 * * MON-FRI", "on weekdays at 08:00 and 20:00"),
        ("0 9 * * 6,0", "on weekends at 09:00"),
        ("@weekly", "on Sundays at 00:00"),
        ("0 0 * * 7", "on Sundays at 00:00"),
        ("30 7 * * mon,WED,5", "on Mondays, Wednesdays and Fridays at 07:30"),
        ("@monthly", "on the 1st of every month at 00:00"),
        ("0 0 2,3,11,22 * *", "on the 2nd, 3rd, 11th and 22nd of every month at 00:00"),
        ("0 0 L * ?", "on the last day of every month at 00:00"),
        ("@quarterly", "on the 1st of every quarter at 00:00"),
        ("0 0 29 2 *", "on the 29th of February at 00:00"),
        ("0 0 1 jan,JUL *", "on the 1st of January and July at 00:00"),
    ],
)
def test_says_what_is_common(cron, words):
    assert cron_words(cron) == words


@pytest.mark.parametrize(
    "cron",
    [
        "0 0 15W * *",
        "0 0 15 * 1",
        "*/45 * * * *",
        "0 */5 * * *",
        "0 0 * * 1#2",
        "0 0 * 2 1",
        "0 0 1-7 * *",
        "1-9 * * * *",
        "0 0,1,2,3,4,5 * * *",
        "0 0 * * * */10",
        "no cron",
        "",
    ],
)
def test_leaves_the_rest_as_it_is(cron):
    assert cron_words(cron) == f"by the cron {cron}"
