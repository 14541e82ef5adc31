"""Site: captures in; pages with their versions and users out, kept on disk."""
