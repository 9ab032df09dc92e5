"""Where statements meet the engine: connections, transactions, the owner's session."""
