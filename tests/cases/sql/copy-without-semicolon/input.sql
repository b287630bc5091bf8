copy t from stdin
