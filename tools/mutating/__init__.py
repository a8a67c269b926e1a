"""Mutation tests: single small changes of a module, and which tests notice them."""
