"""What authors write: assets, Dags and tasks as Python objects. Touches neither the database nor a clock."""
