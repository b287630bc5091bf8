\echo building two indexes
\i indexes.psql
