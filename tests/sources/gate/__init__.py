"""Tests of the gate: addresses, hostile servers, and canaries that must stay silent."""
