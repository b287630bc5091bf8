update price set item = 'nut' where item is null;
create table change (item text, before int, after int);
with changed as (update price set net = net + 1 returning new.item, old.net as before, new.net as after)
insert into change select * from changed;
