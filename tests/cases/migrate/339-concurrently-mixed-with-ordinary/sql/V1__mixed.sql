-- lockstep: transaction=off
create table item (id int, name text);
insert into item select g, 'item ' || g from generate_series(1, 1000) as g;
create index concurrently item_id on item (id);
update item set name = upper(name) where id <= 10;
create unique index concurrently if not exists item_name on item (name);
copy item from stdin;
1001	copied
\.
reindex index concurrently item_id;
alter table item add constraint item_name_key unique using index item_name;
drop index concurrently item_id;
create index concurrently item_lower on item (lower(name));
analyze item;
