insert into t values ('line one;

line -- three
/* four');
select 1;