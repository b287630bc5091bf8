create table stock (item text primary key, amount int not null);
insert into stock values ('bolt', 1), ('nut', 2);
