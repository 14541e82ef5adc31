"""Pages for people: a list of watches and changes, the log-in, and the documents of the API."""
