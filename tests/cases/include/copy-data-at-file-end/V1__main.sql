\i data.sql
select 'a';
