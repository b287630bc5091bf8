create rule r as on update to t do also (((select 1); select 2);
select (3;4));select 5;