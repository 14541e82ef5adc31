"""``quire archive``: one file per command or group of commands; ``app`` joins them."""
