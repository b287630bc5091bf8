select 1; \echo a
select 2;