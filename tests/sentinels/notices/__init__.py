"""Tests of notices: hostile texts, hostile receivers, and crashes at every step."""
