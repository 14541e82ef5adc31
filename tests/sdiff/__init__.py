"""What changed between two pages."""
