\ir tables.sql
\i parts/rows.sql
