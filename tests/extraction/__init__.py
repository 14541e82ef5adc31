"""Tests of the extraction of records."""
