"""Who may do what: permissions, tokens, activity."""
