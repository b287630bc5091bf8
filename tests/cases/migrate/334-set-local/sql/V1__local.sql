create schema side;
set local search_path = side;
set local work_mem = '7MB';
create table here (id int);
insert into here values (1);
create table seen as select current_setting('work_mem') as work_mem;
