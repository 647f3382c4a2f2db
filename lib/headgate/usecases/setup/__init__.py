"""What `headgate doctor` checks."""
