"""Tables: the records of a region as rows, their fields as columns.

Records go in as runs of nodes. ``cells`` reads what each record shows, ``alignment`` puts the cells
of all records into columns with blanks, ``names`` and ``headers`` call the columns something,
``values`` tells numbers, prices and dates from text.
"""
