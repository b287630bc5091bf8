select string_agg(item || ' ' || gross, ', ' order by item), (select sum(after - before) from change),
       (select convalidated from pg_constraint where conname = 'price_item_known') from price;
