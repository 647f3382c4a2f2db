"""All pipelines and the topics between them."""
