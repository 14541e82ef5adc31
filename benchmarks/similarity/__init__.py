"""How alike pages are: right answers and speed."""
