"""Tests of the parts that pages share."""
