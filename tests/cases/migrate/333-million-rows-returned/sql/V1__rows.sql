create table big as select generate_series(1, 1000000) as id, repeat('x', 60) as name;
select * from big;
table big;
update big set name = 'y' where id <= 100000 returning *;
create table behind ();
