select 1;
\ir tables/all.sql
select 5;
