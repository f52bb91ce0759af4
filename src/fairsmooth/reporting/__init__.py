"""Pages and figures from what was measured; nothing is computed again here."""
