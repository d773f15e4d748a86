"""DuckDB, in this process: the rows of TABLE, its sizes and the lengths of its keys, with THREADS threads."""

import sys

import duckdb
from answer import timed

table, threads = sys.argv[1:]

QUERY = f"SELECT count(*), sum(size)::BIGINT, sum(strlen(key))::BIGINT FROM read_csv('{table}')"

connection = duckdb.connect(config={"threads": int(threads), "preserve_insertion_order": False})
timed(lambda: connection.execute(QUERY).fetchall())
