"""Definitions to look at, to run and to copy from."""
