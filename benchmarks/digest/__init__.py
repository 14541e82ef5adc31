"""The figures promised for the digest, one file each."""
