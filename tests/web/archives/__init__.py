"""Tests of the archive browser."""
