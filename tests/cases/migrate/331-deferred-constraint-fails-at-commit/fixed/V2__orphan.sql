create table note (text text);
insert into pet values (1, 7);
insert into note values ('the pet is there, its owner not yet');
insert into owner values (7);
