do $té1$ begin create table tagged (id int); end; $té1$;
insert into tagged values (2);