insert into sound values ('high');
