\i a.sql
select 'b';
