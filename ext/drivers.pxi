# The registry: one row a driver.
add_driver(b"mysql", &mysql_ops)
add_driver(b"pgsql", &pgsql_ops)
add_driver(b"sqlite", &sqlite_ops)
add_driver(b"dbapi", &dbapi_ops)
add_driver(b"null", &null_ops)

