"""What a step is, and how one is carried out and read back."""
