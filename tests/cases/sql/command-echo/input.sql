\echo begin
select 1;
\echo 'it\'s; ' "a\b" done
select 2;