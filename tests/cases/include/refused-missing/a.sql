select 1;
\ir sub/none.sql
