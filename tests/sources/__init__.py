"""Sources of pages, intact and damaged."""
