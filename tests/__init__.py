"""The tests mirror the package: ``tests/digest`` is about ``quire.digest``."""
