"""Compare two pages, or two crawls: pasted, uploaded or fetched, and held for an hour.

``given`` reads what people gave, ``crawls`` unpacks uploaded files, ``compare`` has the routes.
"""
