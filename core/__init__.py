"""What is recorded: models, querysets, constraints, migrations. Knows nothing of the algebra."""
