"""What of one version and its surroundings will make its next upgrade or reset hurt."""
