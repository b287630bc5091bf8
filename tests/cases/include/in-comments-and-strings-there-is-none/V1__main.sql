-- \i none.sql
/* \i none.sql */
select '
\i none.sql
';
do $$
\i none.sql
$$;
