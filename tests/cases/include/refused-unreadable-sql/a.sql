select 1;
select 'x;
