"""Views of a comparison, as data: lines, words, unified, side by side."""
