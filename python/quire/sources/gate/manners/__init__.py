"""Manners: what the gate does so that sites do not mind its visits: robots.txt and turns."""
