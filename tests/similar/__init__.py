"""How alike pages are."""
