"""Sentinels: parts, conditions, groups, and how people write them."""
