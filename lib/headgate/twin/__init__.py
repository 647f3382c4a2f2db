"""Both versions of a query on the same generated rows: rows, states compared, and what follows."""
