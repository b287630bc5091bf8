create table other (id int);
create index concurrently other_id on other (id);
