"""Steps that back up records and restore them."""
