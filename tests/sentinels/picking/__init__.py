"""Picking parts of pages."""
