create table t (a int)
\i a.sql
;
select (1
\i a.sql
);
