"""Helpers for all commands: printing, files, shared options, progress bars."""
