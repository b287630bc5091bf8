\i begin.sql
select 1;
\i commit.sql
