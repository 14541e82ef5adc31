"""``quire fragments``: one file per command; ``app`` joins them."""
