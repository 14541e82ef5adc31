"""What changed between two pages: verdicts, statuses, views, scripts."""
