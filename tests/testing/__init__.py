"""The generator and its edits."""
