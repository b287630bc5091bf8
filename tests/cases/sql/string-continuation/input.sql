insert into cont values ('left;' -- note; here
'right');
insert into cont values ('a'

   'b');
select 'a' 'b;';