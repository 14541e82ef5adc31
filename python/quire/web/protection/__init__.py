"""Protection: rights for each route, and checks before a route is reached."""
