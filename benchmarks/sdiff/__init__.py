"""Benchmarks of comparing pages: scripts, annotations and verdicts, beside GNU diff, xmldiff and lxml."""
