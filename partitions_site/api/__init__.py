"""The REST API: what Airflow's scripts call, and what they cannot ask Airflow."""
