select 2;
\ir a.sql
select 3;
\i tables/deep/b.sql
\include_relative ../c.sql
