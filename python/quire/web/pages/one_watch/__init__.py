"""One watch: its changes, why it fired, its history, noise, replay, notices and form.

``heading`` has what all these pages share; each other file is one of them, and ``actions`` what
the buttons do.
"""
