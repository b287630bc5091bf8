select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select * from shop_note;
select id, name, length(note) from shop.customer order by id;
select shop.total(1), shop.doubled(4);
select nextval('shop.customer_id_seq');
