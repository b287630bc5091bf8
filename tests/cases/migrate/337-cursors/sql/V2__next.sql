create table open_cursors as select count(*) as number from pg_cursors;
declare kept cursor for select id from line where id < 0 for update;
fetch next from kept;
update line set id = 51 where current of kept;
