\i a.sql
create index concurrently i on t (a);
