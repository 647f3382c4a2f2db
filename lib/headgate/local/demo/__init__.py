"""The demo business: a shop in thirteen cities, its topics, its feed, and its three pipelines."""
