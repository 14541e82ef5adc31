"""The report about records: a page as it reads, with its records outlined."""
