\i a.sql
select 1;
