select version, state, statements_done from lockstep_history;
select indexrelid::regclass, indisvalid from pg_index where indrelid = 'item'::regclass order by indexrelid::regclass::text;
select count(*), count(*) filter (where name like 'ITEM%') from item;
