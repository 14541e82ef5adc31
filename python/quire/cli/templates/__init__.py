"""``quire templates``: group the pages of a crawl, and check later pages against the groups."""
