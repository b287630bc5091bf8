\i off.sql
select 'a\'; \i none.sql';
\i on.sql
select 'b\';
