"""The servers behind a gateway: kept, spoken to by many at once, compared with their pins."""
