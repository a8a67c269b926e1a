"""The pages and form handlers: tables, hierarchies, runs."""
