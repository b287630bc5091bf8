update stock set amount = 0;
merge into stock as s using (values ('bolt', 5), ('washer', 7)) as d (item, amount) on s.item = d.item
when matched and d.amount > 0 then update set amount = s.amount + d.amount
when not matched then insert values (d.item, d.amount);
