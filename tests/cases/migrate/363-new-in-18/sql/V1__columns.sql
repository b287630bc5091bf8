create table price (item text, net int, gross int generated always as (net * 119 / 100) virtual);
insert into price values ('bolt', 100), (null, 200);
alter table price add constraint price_item_known not null item not valid;
