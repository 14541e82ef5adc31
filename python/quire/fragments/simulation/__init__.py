"""Simulation: what a cache of fragments would save (paper 004, section 6.3)."""
