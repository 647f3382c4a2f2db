"""Turn a request into steps that can be shown, carried out and rolled back."""
