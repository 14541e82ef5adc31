"""Templates: the groups of a crawl as one HTML page."""
