\i a.psql
\i b
\i .hidden/c.sql
