"""Processes that are really killed, while pages change and notices are sent."""
