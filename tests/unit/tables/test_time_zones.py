"""Moments with a time zone as quasi-identifiers, also where clocks are set back or forward."""

import datetime as dt

import polars as pl
import pytest

import shoal

# A clock set back in the night, at midnight itself, set forward, and at midnight; half hours.
ZONES = {
    "Europe/Berlin": dt.datetime(2024, 10, 26, 20),
    "America/Havana": dt.datetime(2024, 11, 2, 22),
    "America/New_York": dt.datetime(2024, 3, 10, 1),
    "America/Asuncion": dt.datetime(2023, 10, 1, 0),
    "Asia/Kolkata": dt.datetime(2024, 1, 1, 12),
    "UTC": dt.datetime(2024, 1, 1, 12),
}

# Some tables have a value on every full hour of one day: that is said, and no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:In column 'seen' every value lies on a full")


def people(zone, step):
    moments = [ZONES[zone] + step * (i % 24) for i in range(72)]
    seen = pl.Series(moments).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return pl.DataFrame({"seen": seen, "ill": ["flu", "gout", "cold"] * 24})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("zone", "minutes", "typed"),
    # Every zone with every step, and with texts and types.
    [
        (zone, minutes, (i + j) % 2 == 1)
        for i, zone in enumerate(ZONES)
        for j, minutes in enumerate((30, 60, 1440))
    ],
)
def test_a_release_is_verified_and_read_back(zone, minutes, typed, tmp_path):
    table = people(zone, dt.timedelta(minutes=minutes))
    outcome = shoal.anonymize(table, quasi="seen", sensitive="ill", k=5, typed=typed)
    assert outcome.verdict.holds
    kept = outcome.frame
    if not typed:  # through a text file, where nothing but the written offset is left
        kept = tmp_path / "release.csv"
        shoal.write_table(outcome.frame, kept)
    again = shoal.audit(kept, quasi=["seen"], sensitive=["ill"], k=5, original=table)
    assert again.holds


def test_the_hour_that_comes_twice_is_two_hours():
    """At k = 2 every moment has its own class, so the two must be written apart."""
    table = people("Europe/Berlin", dt.timedelta(minutes=30))
    cells = shoal.anonymize(table, quasi="seen", sensitive="ill", k=2).frame["seen"]
    assert {"2024-10-27 02:30:00+02:00", "2024-10-27 02:30:00+01:00"} <= set(cells)


def test_two_midnights_of_one_day_are_not_one_day():
    first = dt.datetime(2024, 11, 3, 4)  # Havana: midnight, and an hour later midnight again
    seen = pl.Series([first, first + dt.timedelta(hours=1)] * 2).dt.replace_time_zone("UTC")
    table = pl.DataFrame({"seen": seen.dt.convert_time_zone("America/Havana")})
    cells = shoal.anonymize(table, quasi="seen", k=2).frame["seen"]
    assert set(cells) == {"2024-11-03 00:00:00-04:00", "2024-11-03 00:00:00-05:00"}
