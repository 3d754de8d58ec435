"""Django's PostgreSQL, but for what it costs to see that a kept connection is still there."""
