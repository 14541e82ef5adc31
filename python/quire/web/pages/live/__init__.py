"""Live pages: ``hub`` reads the database for all open pages, ``stream`` is their connection."""

from __future__ import annotations
