"""Record restarts of changed queries as the real engine does them, controls included."""
