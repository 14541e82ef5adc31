"""Templates of whole crawls, on any engine."""
