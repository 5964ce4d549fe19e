"""What is imposed at an instant: the rows of contacts and of constraints."""
