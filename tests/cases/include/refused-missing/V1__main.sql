\i a.sql
\i none.sql
\i ~/a.sql
\ir a.sql/b.sql
