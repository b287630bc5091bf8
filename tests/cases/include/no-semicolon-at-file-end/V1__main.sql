\i a.sql
select 3;
\i b.sql
;
\i c.sql
select 4