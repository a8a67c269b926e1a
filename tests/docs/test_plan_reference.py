"""The reference of plans has every key that a plan may have."""

from pathlib import Path

from shoal.plan.plan import Plan

PAGE = (Path(__file__).parent.parent.parent / "docs" / "reference" / "plan.md").read_text()


def test_every_key_of_a_plan_is_told() -> None:
    lacking = []
    for table, field in Plan.model_fields.items():
        part = type(field.default) if table != "columns" else None
        own = getattr(part, "model_fields", {"seed": None} if table == "seed" else {})
        if table == "columns":
            own = Plan.model_fields["columns"].annotation.__args__[1].model_fields
        lacking += [f"{table}.{key}" for key in own if f"`{key}`" not in PAGE]
    assert not lacking
