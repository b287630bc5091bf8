create table a (
  b int
);

insert into a
values (1);
