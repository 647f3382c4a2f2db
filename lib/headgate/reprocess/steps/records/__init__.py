"""Steps that copy records aside and back."""
