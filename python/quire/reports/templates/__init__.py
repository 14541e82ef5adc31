"""The template report: the templates of a crawl as one HTML page."""
