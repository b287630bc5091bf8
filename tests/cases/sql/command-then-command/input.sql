\echo a \echo b
select 1;