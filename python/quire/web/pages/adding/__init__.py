"""Adding a watch: paste an address, click the part that matters, say when it counts."""
