"""Disk: files that survive a crash, and the lock that keeps writers apart."""
