"""What one page is: its bytes, its columns, its file."""
