\echo making the tables
\ir parts/all.sql
insert into item values (3, 'from the migration');
