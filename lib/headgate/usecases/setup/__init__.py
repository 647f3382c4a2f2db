"""What `headgate doctor` looks at."""
