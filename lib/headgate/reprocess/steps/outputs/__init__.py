"""Steps that write results with Spark, and put them in place."""
