"""Site: the pages of a site with their versions and readers, kept on disk while they are studied."""
