"""Parts that pages share: do the answers hold, and what do they cost."""
