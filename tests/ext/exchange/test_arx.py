"""Projects of ARX, made by hand as ARX lays them out."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from shoal.plan.plan import Plan
from tests.cli.conftest import PEOPLE, Run


def assigned(name: str, role: str, kind: str = "String", *more: str) -> str:
    inner = f"<name>{escape(name)}</name><type>{role}</type><datatype>{kind}</datatype>"
    return f"<assigment>{inner}{''.join(more)}</assigment>"


ASSIGNED = (
    assigned("name", "IDENTIFYING_ATTRIBUTE"),
    assigned(
        "age",
        "QUASI_IDENTIFYING_ATTRIBUTE",
        "Integer",
        "<ref>hierarchies/age.csv</ref><min>1</min><max>All</max>",
    ),
    assigned("sex", "QUASI_IDENTIFYING_ATTRIBUTE", "String", "<ref>hierarchies/sex.csv</ref>"),
    assigned("zip", "QUASI_IDENTIFYING_ATTRIBUTE", "Integer"),
    assigned("disease", "SENSITIVE_ATTRIBUTE"),
)
MODELS = (
    "4-anonymity",
    "distinct-2-diversity for attribute 'disease'",
    "0.5-closeness with equal ground-distance for attribute 'disease'",
    "(0.01,0.1)-differential privacy",
)
WEIGHTS = "".join(
    f"<attributeWeight><attribute>{name}</attribute><weight>{weight}</weight></attributeWeight>"
    for name, weight in (("age", "1.0"), ("sex", "0.5"))
)
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def project(
    path: Path, *, assigned=ASSIGNED, models=MODELS, words="2.0", without=(), **files
) -> Path:
    criteria = "".join(f"<criterion>{escape(model)}</criterion>" for model in models)
    parts = {
        "metadata.xml": "<metadata><version>3.9.2</version>"
        f"<vocabulary>{words}</vocabulary></metadata>",
        "project.xml": "<project><name>x</name><separator>,</separator></project>",
        "input/config.xml": f"<config><relativeMaxOutliers>0.05</relativeMaxOutliers>"
        f"<attributeWeights>{WEIGHTS}</attributeWeights><criteria>{criteria}</criteria></config>",
        "input/definition.xml": f"<definition>{''.join(assigned)}</definition>",
    }
    texts = {name: HEAD + text for name, text in parts.items()}
    texts["input/hierarchies/age.csv"] = "".join(
        f"{age};{age // 10 * 10}s;*\n" for age in range(20, 50)
    )
    texts["input/hierarchies/sex.csv"] = "f;*\nm;*\n"
    texts["data/input.csv"] = PEOPLE
    texts["input/config.dat"] = "a Java object"
    with zipfile.ZipFile(path, "w") as box:
        for name, text in {**texts, **files}.items():
            if name not in without:
                box.writestr(name, text)
    return path


def test_a_project_becomes_a_plan_that_runs(shoal: Run, folder: Path) -> None:
    project(folder / "p.deid")
    done = shoal("init", "p.deid", "-o", "plan.toml")
    assert done.returncode == 0, done.stderr
    plan = Plan.read(folder / "plan.toml")
    roles = {name: part.role.value for name, part in plan.columns.items()}
    assert roles == {
        "name": "identifier",
        **dict.fromkeys(("age", "sex", "zip"), "quasi"),
        "disease": "sensitive",
    }
    kinds = {name: plan.columns[name].kind.value for name in ("age", "sex", "zip")}
    assert kinds == {"age": "taxonomy", "sex": "taxonomy", "zip": "ordered"}
    assert plan.columns["age"].importance == 2 and plan.columns["sex"].importance == 1
    rules = [rule.spec for rule in plan.rules]
    assert {"name": "k-anonymity", "k": 4} in rules
    assert any(rule["name"] == "l-diversity" and rule["l"] == 2 for rule in rules)
    assert any(rule["name"] == "t-closeness" and rule["t"] == 0.5 for rule in rules)
    assert plan.columns["age"].finest == 1 and plan.release.suppress == 0.05
    # What has no counterpart is listed, not dropped in silence.
    assert "differential privacy: no counterpart" in done.stdout
    assert PEOPLE.splitlines()[1] not in "".join(
        path.read_text()
        for path in folder.rglob("*")
        if path.suffix in (".toml", ".csv") and path.name != "people.csv"
    ), "no copy of the table"
    done = shoal("anonymize", "people.csv", "--plan", "plan.toml", "-o", "r.csv")
    assert done.returncode == 0, done.stderr
    done = shoal("audit", "r.csv", "--manifest", "r.csv.manifest.json", "--plan", "plan.toml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_models_by_their_names(folder: Path) -> None:
    from shoal.ext.exchange.arx import read_project

    models = [
        "shannon-entropy-2.5-diversity for attribute 'disease'",
        "recursive-(3.0,2)-diversity for attribute 'disease'",
        "0.2-closeness with ordered distance for attribute 'disease'",
        "basic-2.0-likeness for attribute 'disease'",
        "enhanced-1.5-likeness for attribute 'disease'",
        "0.2-closeness with hierarchical ground-distance for attribute 'disease'",
        "distinct-2-diversity for attribute 'gone'",
    ]
    found = read_project(project(folder / "p.deid", models=models))
    own = {"column": "disease"}
    assert found.rules == [
        {"name": "entropy-l-diversity", "l": 2.5, **own},
        {"name": "recursive-l-diversity", "c": 3.0, "l": 2, **own},
        {"name": "t-closeness", "distance": "ordered", "t": 0.2, **own},
        {"name": "beta-likeness", "beta": 2.0, **own},
        {"name": "beta-likeness", "enhanced": True, "beta": 1.5, **own},
    ]
    assert sum("no counterpart" in note or "no such" in note for note in found.notes) == 2


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"words": "3.0"}, "newer than this version of Shoal"),
        ({"without": ("input/definition.xml",)}, "holds no input/definition.xml"),
        ({"without": ("metadata.xml",)}, "holds no metadata.xml"),
        ({"assigned": ()}, "declares no attribute"),
        ({"input/definition.xml": "<definition>"}, "not an ARX project, or damaged"),
        (
            {"input/hierarchies/age.csv": "20;a;*\n20;b;*\n"},
            "hierarchy of 'age' in p.deid cannot be used",
        ),
    ],
)
def test_bad_projects_are_refused(folder: Path, refused, made, said: str) -> None:
    project(folder / "p.deid", **made)
    assert said in refused("init", "p.deid", "-o", "plan.toml")


def test_what_is_no_zip_is_refused(folder: Path, refused) -> None:
    (folder / "p.deid").write_text("age,sex\n")
    assert "not an ARX project, or damaged" in refused("init", "p.deid", "-o", "plan.toml")
    assert "does not exist" in refused("init", "gone.deid", "-o", "plan.toml")


def test_a_name_stays_in_its_folder(shoal: Run, folder: Path) -> None:
    odd = assigned(
        "../../x", "QUASI_IDENTIFYING_ATTRIBUTE", "String", "<ref>hierarchies/o.csv</ref>"
    )
    project(folder / "p.deid", assigned=(odd,), **{"input/hierarchies/o.csv": "a;*\nb;*\n"})
    assert shoal("init", "p.deid", "-o", "plan.toml").returncode == 0
    assert [path.name for path in (folder / "plan.hierarchies").iterdir()] == ["1__x.csv"]
