"""The API: one module for each subject, with the routes under ``/api/v1``."""
