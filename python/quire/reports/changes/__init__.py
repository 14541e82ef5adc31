"""The redline of a page, and the sanitiser that makes its markup safe to show."""
