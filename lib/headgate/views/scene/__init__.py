"""What every graph shows: nodes, icons and colours."""
