"""Listings: a sitemap, a feed or a page with links goes in, addresses of pages come out."""

from __future__ import annotations

from quire.sentinels.listings.listing import Listing, NotAListing, read_listing
from quire.sentinels.listings.sorting import Sorted, sort_addresses

__all__ = ["Listing", "NotAListing", "Sorted", "read_listing", "sort_addresses"]
