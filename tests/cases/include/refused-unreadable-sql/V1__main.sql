select 1;
\i a.sql
