"""Tests of ``quire.captures``."""
