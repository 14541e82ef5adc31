"""Common: what every command uses: the terminal, files, options, progress bars."""
