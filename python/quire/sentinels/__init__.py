"""Sentinels: watch pages, and hear only about the changes that matter (paper 002)."""
