"""The changes, in order. A file is never edited once it was released."""
