"""Tests of everything that draws HTML."""
