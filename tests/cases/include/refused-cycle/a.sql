select 1;
\i b.sql
