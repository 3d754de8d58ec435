"""`partita`: the scheduler from a terminal. Each command parses, makes one call, and replies."""
