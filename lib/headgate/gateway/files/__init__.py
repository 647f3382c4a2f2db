"""Local folders, S3, Azure, Google Cloud Storage and HDFS by one way of addressing."""
