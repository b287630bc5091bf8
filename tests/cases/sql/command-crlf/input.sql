\echo a
select 1;
