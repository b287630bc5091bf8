\echo a 'b c'
select 1
\echo in the middle
;
\i a.sql
\warn w
