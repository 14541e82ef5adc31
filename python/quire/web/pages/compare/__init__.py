"""Compare two pages, or two crawls: pasted, uploaded or fetched, and held for an hour.

``given`` reads what people gave, ``crawls`` unpacks uploaded files, ``folder_files`` finds style
sheets and images in them, ``compare`` has the routes.
"""
