alter table price validate constraint price_item_known;
