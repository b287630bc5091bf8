create table shop_note as select current_schema() as schema, count(*) as customers from shop.customer;
