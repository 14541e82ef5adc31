"""Disk: writes files that survive a crash, and locks the archive for one writer."""
