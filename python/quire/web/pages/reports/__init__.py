"""Reports about crawls that people upload, or about archives of the service."""
