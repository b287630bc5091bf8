create table gate (id int);
insert into gate values (1)