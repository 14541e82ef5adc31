"""Batch work, with the same results on every engine."""
