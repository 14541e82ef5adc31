"""WARC: captures in, from crawls; WARC files and CDXJ out."""
