"""The contract of every database: its driver has what the protocol asks for, as it asks for it."""

import inspect
from importlib import import_module

import pytest

from shoal.base.address import is_address
from shoal.ext.databases.database import _DRIVERS, Database


@pytest.mark.parametrize("system", _DRIVERS)
def test_a_driver_offers_every_call_of_the_protocol(system):
    module = import_module(f"shoal.ext.databases.{_DRIVERS[system]}")
    assert is_address(f"{system}:x")
    assert list(inspect.signature(module.connect).parameters) == ["address", "write"]
    (driver,) = [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if kind.__module__ == module.__name__
    ]
    for name, asked in inspect.getmembers(Database, inspect.isfunction):
        if not name.startswith("_"):
            own = inspect.signature(getattr(driver, name)).parameters
            assert list(own) == list(inspect.signature(asked).parameters), name
