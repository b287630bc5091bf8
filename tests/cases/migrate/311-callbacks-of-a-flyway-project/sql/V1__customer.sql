create table customer (id int primary key, name text);
