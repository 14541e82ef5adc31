"""The commands of ``quire archive``, one file per command or group; ``app`` registers them."""
