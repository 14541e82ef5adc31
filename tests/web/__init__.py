"""Tests of the web application, without a network."""
