"""Adding a watch by clicking."""
