"""Results of the keys that late records touch, computed again and replaced."""
