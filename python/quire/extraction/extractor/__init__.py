"""Extractors: learned from one page, applied to others of the same template.

``selectors`` says where the records of a region are, ``profiles`` what its columns look like;
``extractor`` saves both, applies them, and tells when a page no longer fits.
"""
