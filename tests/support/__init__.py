"""What tests of several folders share; nothing here is a test."""
