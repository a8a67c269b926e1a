"""What the privacy models refuse, and the words they do it with."""

import pytest

from shoal.base.errors import ParameterError
from shoal.privacy import (
    AlphaK,
    BetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    TCloseness,
)
from tests.unit.privacy.test_rules import whole

TABLE = ["flu"] * 6 + ["cold"] * 3 + ["pox"]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            KAnonymity(11),
            "k-anonymity with k=11 cannot be met: the table has only 10 rows; "
            "the largest k possible is 10.",
        ),
        (
            LDiversity(4, "s"),
            "l-diversity with l=4 cannot be met: column 's' has only 3 different values; "
            "the largest l possible is 3.",
        ),
        (
            EntropyLDiversity(3, "s"),
            "Entropy l-diversity with l=3 cannot be met in column 's': the whole table is only as "
            "mixed as 2.4546 equally frequent values ('flu' alone has a share of 60.00%); the "
            "largest l possible is 2.45.",
        ),
        (
            RecursiveLDiversity(2, 1.0, "s"),
            "Recursive l-diversity with c=1, l=2 cannot be met in column 's': 'flu' has a share of "
            "60.00%, 1.5 times that of the values from rank 2 on; with l=2 the smallest c possible "
            "is 1.5001.",
        ),
        (
            RecursiveLDiversity(4, 9.0, "s"),
            "Recursive l-diversity with l=4 cannot be met: column 's' has only 3 different values; "
            "the largest l possible is 3.",
        ),
        (
            FrequencyLDiversity(2, "s"),
            "Frequency l-diversity with l=2 cannot be met in column 's': 'flu' has a share of "
            "60.00%, above 1/2; no l above 1 is possible.",
        ),
        (
            AlphaK(0.2, 2, "s"),
            "(alpha, k)-anonymity with alpha=0.2 cannot be met in column 's': 'flu' has a share of "
            "60.00% of the whole table; the smallest alpha possible is 0.6.",
        ),
        (
            AlphaK(0.2, 2, "s", ("cold", "pox")),
            "(alpha, k)-anonymity with alpha=0.2 cannot be met in column 's': 'cold' has a share "
            "of 30.00% of the whole table; the smallest alpha possible is 0.3.",
        ),
        (
            AlphaK(0.7, 11, "s"),
            "(alpha, k)-anonymity with k=11 cannot be met: the table has only 10 rows; "
            "the largest k possible is 10.",
        ),
        (
            AlphaK(0.7, 2, "s", ("fluu",)),
            "The value 'fluu' to protect does not occur in column 's'; it has 'cold', 'flu', "
            "'pox'. Did you mean 'flu'?",
        ),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_refusals_name_the_figure_and_the_nearest_that_can_be_met(rule, text):
    assert rule.obstacle(whole(TABLE)) == text


def test_one_value_only():
    assert (
        LDiversity(2, "s")
        .obstacle(whole(["a", "a"]))
        .endswith("different value; no l is possible.")
    )
    assert TCloseness(0.1, "s", "ordered").holds(whole(["a", "a"]))[0]
    assert BetaLikeness(0.1, "s", True).holds(whole(["a", "a"]))[0]
    assert EntropyLDiversity(1, "s").holds(whole(["a", "a"]))[0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: TCloseness(0.0, "s"),
            "The 't' parameter of t-closeness must be a number in (0, 1]. Got 0.0",
        ),
        (lambda: TCloseness(1.1, "s"), "must be a number in (0, 1]. Got 1.1 instead."),
        (lambda: TCloseness(0.5, "s", "orderd"), "Did you mean 'ordered'?"),
        (
            lambda: AlphaK(0.0, 2, "s"),
            "must be a number in (0, 1], or a table with one for each value. Got 0.0",
        ),
        (lambda: AlphaK(0.5, 0, "s"), "must be a whole number in [1, inf). Got 0 instead."),
        (
            lambda: AlphaK(0.5, 2, "s", ()),
            "Name at least one value, or leave it out to protect all.",
        ),
        (lambda: AlphaK(0.5, 2, "s", "flu"), "must be a list of texts. Got 'flu' instead."),
        (lambda: AlphaK(0.5, 2, "s", (1,)), "must be a list of texts. Got (1,) instead."),
        (lambda: LDiversity(1, "s"), "must be a whole number in [2, inf). Got 1 instead."),
        (lambda: LDiversity(2.5, "s"), "must be a whole number in [2, inf). Got 2.5 instead."),
        (lambda: EntropyLDiversity(0.5, "s"), "must be a number in [1, inf). Got 0.5 instead."),
        (
            lambda: RecursiveLDiversity(2, 0.0, "s"),
            "must be a number in (0, inf). Got 0.0 instead.",
        ),
        (lambda: BetaLikeness(0.0, "s"), "must be a number in (0, inf). Got 0.0 instead."),
    ],
)
def test_parameters_out_of_range(make, text):
    with pytest.raises(ParameterError) as error:
        make()
    assert text in str(error.value)
