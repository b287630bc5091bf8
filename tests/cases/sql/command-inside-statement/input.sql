select 1,
\echo note
  2;
select 3;