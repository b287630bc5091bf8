\i a.sql
\i a.sql
select 'end';
