"""What a checkpoint says of its state stores."""
