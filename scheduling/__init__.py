"""What decides: the engine and, in `algebra`, the pure values it reckons with."""
