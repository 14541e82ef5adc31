"""Boilerplate: remove from pages the blocks that most pages of their template have."""
