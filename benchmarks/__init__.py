"""Benchmarks: run by make targets, never as tests. Their helpers are used by the tests too."""
