"""Tests of Omini."""
