"""Examples for the pages of rules, cut out of recorded restarts and the rules' own unit tests."""
