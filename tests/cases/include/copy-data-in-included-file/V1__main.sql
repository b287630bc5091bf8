create table t (a int);
\i data.sql
select 'a';
\i data.sql
