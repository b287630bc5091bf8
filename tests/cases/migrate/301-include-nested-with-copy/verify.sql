select id, note from item order by id; select obj_description('item'::regclass)
