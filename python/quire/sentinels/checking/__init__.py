"""Checks: claim due pages, fetch them, evaluate their sentinels, write everything down."""
