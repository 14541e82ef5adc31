"""Tests of the room that shows pages of strangers."""
