"""``shoal methods``: list methods and rules."""

from __future__ import annotations

from shoal.catalog import DEFAULT_METHOD, METHODS, RULES
from shoal.cli import console


def command() -> None:
    """List all methods with their options, and all rules.

    Example: shoal methods
    """
    console.print_line("Methods (--method NAME, options as --option NAME=VALUE):")
    for method in METHODS.values():
        default = " (default)" if method.name == DEFAULT_METHOD else ""
        console.print_line(f"\n  {method.name}{default}: {method.story}. [{method.citation}]")
        for param in method.params:
            console.print_line(f"    {param.name} = {param.default}: {param.meaning}")
        if method.paper is not None:
            console.print_line(f"    --as-in-paper: {method.paper.describe()}. {method.paper.why}")
    console.print_line("\nRules:")
    for rule in RULES.values():
        flags = " ".join(f"--{flag}" for flag, _ in rule.flags)
        flags += f" --{rule.family[0]} {rule.family[1]}" if rule.family else ""
        console.print_line(f"\n  {rule.name} ({flags}): {rule.story}. [{rule.citation}]")
        for param in rule.params:
            console.print_line(
                f"    {param.name} = {param.default}: {param.meaning}; {param.allowed()}"
            )
