"""Hierarchies on the page: seen before they are made, rare values together, nothing typed lost."""

from __future__ import annotations

import pytest

from tests.ext.web.test_flow import Steward, steward

__all__ = ["steward"]

TOWNS = ["Aa"] * 9 + ["Bb"] * 8 + ["Cc"] * 2 + ["Dd"] * 2 + ["Ee"]
TABLE = "age,town,diagnosis\n" + "\n".join(
    f"{20 + i},{town},{'flu' if i % 2 else 'cold'}" for i, town in enumerate(TOWNS)
)


@pytest.fixture(scope="module")
def town(steward) -> str:
    return f"{steward.open('towns.csv', TABLE.encode())}/columns/1"


def step(steward: Steward, place: str, status: int = 200, **fields: str) -> dict:
    return steward.post(place, status, **fields).json()


def labels(node: dict) -> list[str]:
    return [node["label"], *(name for child in node["children"] for name in labels(child))]


def test_a_preview_changes_nothing_and_keeps_what_was_typed(steward, town) -> None:
    age = town.replace("columns/1", "columns/0")
    typed = {"how": "intervals", "numbers-intervals": "10, 20", "numbers-quantiles": "4, 2"}
    seen = step(steward, age, do="preview", **typed)
    assert not seen["hierarchy"]["there"]
    assert not seen["can_undo"]
    assert "[20-29]" in labels(seen["preview"]["tree"])
    assert seen["preview"]["tree"]["rows"] == len(TOWNS)
    assert seen["maker"] == typed
    seen = step(steward, age, do="make", **typed)
    assert seen["hierarchy"]["there"]
    assert seen["maker"] == typed  # also after it was made
    seen = step(steward, age, 422, do="preview", **(typed | {"numbers-intervals": "ten"}))
    assert "Got 'ten' instead" in seen["fault"]
    assert seen["maker"]["numbers-intervals"] == "ten"
    assert seen["preview"] is None
    page = steward.client.get(age, headers={"accept": "text/html"}).text
    assert 'value="ten"' in page


def test_rare_values_are_grouped_at_once_and_undone(steward, town) -> None:
    step(steward, town, do="make", how="flat")
    seen = step(steward, town, do="rare", least="3")
    top = {node["label"]: node for node in seen["hierarchy"]["tree"]["children"]}
    assert set(top) == {"Aa", "Bb", "rare values"}
    assert {child["label"] for child in top["rare values"]["children"]} == {"Cc", "Dd", "Ee"}
    assert top["rare values"]["rows"] == 5
    assert not seen["hierarchy"]["lacking_values"]
    # Beside the group there is nothing rare left; under it all are, and stay there.
    seen = step(steward, town, 422, do="rare", least="3")
    assert "Nothing was grouped" in seen["fault"]
    for wrong in ("", "1", "two"):
        seen = step(steward, town, 422, do="rare", least=wrong)
        assert f"Got {wrong!r} instead" in seen["fault"]
        assert seen["typed"]["least"] == wrong
    seen = step(steward, town, do="undo")
    assert len(seen["hierarchy"]["tree"]["children"]) == 5


def test_a_few_ways_that_suit_the_values_are_suggested_with_an_example(steward) -> None:
    lines = ["years,home,day,name,visits"]
    lines += [
        f"{18 + i},{('DE', 'FR', 'PL')[i % 3]},{1960 + i}-0{1 + i % 9}-1{i % 9},n{i % 3},{i % 4}"
        for i in range(60)
    ]
    place = steward.open("people.csv", "\n".join(lines).encode())
    ways = [
        {way["how"]: way["path"] for way in steward.get(f"{place}/columns/{number}")["ways"]}
        for number in range(5)
    ]
    assert list(ways[0]) == ["ages", "intervals", "quantiles"]
    assert next(iter(ways[1])) == "country"
    assert ways[1]["country"] == ["DE", "Western Europe", "*"]
    assert list(ways[2]) == ["dates", "weeks", "decades"]
    assert "country" not in ways[3]
    assert "ages" not in ways[4]
    for way in ways:
        assert len(way) <= 3
        assert all(path[-1] == "*" and len(path) > 1 for path in way.values())
    before = steward.get(f"{place}/columns/1")["hierarchy"]["there"]
    html = steward.client.get(f"{place}/columns/1", headers={"accept": "text/html"}).text
    assert "Western Europe" in html and "More ways to make one" in html
    assert steward.get(f"{place}/columns/1")["hierarchy"]["there"] == before, "nothing is made yet"
    seen = step(steward, f"{place}/columns/1", do="make", how="country")
    assert seen["hierarchy"]["groups"] > 1
