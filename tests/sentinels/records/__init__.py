"""Watches of lists: new records, and what is not one."""
