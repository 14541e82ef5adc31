"""Few false alarms: histories of pages and sites in, what watches would have told out."""
