"""What `headgate capture` reads in a session: settings and captures."""
