create table tab$1$ (a$b$c int);
insert into tab$1$ values (1); insert into tab$1$ values (2);
create view v$$w as select a$b$c from tab$1$;