"""The archive: how small, how fast, how it grows, and whether all comes back."""
