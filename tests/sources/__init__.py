"""Where pages come from, and what is in their place when they are damaged."""
