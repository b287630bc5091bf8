create table item (id int primary key, note text);
comment on table item is 'first'
