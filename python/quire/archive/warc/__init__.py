"""WARC: adds crawls to an archive, and writes WARC files with a CDXJ index."""
