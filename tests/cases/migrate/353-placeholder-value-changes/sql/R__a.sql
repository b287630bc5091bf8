insert into log values ('a ${STAGE}');
