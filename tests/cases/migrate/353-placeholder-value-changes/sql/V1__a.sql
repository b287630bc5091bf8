create table log (x text);
insert into log values ('V1 ${stage}');
