"""Measurements of quire beside its rivals; start with ``python benchmarks/run.py --help``."""
