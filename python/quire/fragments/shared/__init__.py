"""Shared fragments: parts that several pages have (paper 004, Algorithm 1), of a list or a crawl."""
