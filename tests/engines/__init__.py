"""Batch work, on every engine alike."""
