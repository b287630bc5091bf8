\i a.sql
select 2;
\ir b.sql;
select 3;
