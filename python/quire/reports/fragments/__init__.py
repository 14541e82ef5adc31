"""Fragments: what the pages of a site share, and how long parts live, as one HTML page."""
