"""Spark: the engine that runs batch work on a cluster."""
