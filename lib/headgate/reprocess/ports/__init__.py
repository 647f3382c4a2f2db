"""What plans read and change, one module a subject; `inspector` joins them."""
