"""Commands for one page or two: ``encode``, ``decode``, ``show``, ``diff``, ``similar``."""
