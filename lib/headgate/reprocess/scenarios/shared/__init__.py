"""What several scenarios use."""
