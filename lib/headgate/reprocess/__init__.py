"""What somebody wants done becomes steps that can be shown, carried out and taken back."""
