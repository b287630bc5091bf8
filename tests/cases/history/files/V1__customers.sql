create table customers (id bigint primary key, name text not null);
insert into customers values (1, 'Ada'), (2, 'Grace');
