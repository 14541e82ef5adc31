"""Experiments of paper 002 and the scale of the monitor: pages and sentinels in, times and answers out.

``workload`` makes pages and sentinels, ``systems`` has the monitors that are compared; the rival
that checks every sentinel alone is ``benchmarks.peers.webcq``. Every other file is one benchmark.
"""
