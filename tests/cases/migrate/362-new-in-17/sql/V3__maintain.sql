grant maintain on reading to keeper_362;
alter table reading alter column doubled set expression as (level * 20);
set local role keeper_362;
analyze reading;
