"""Commands for one or two pages: ``encode``, ``decode``, ``show``, ``diff``, ``similar``."""
