create or replace view totals as select customer, count(*) as orders from orders group by customer;
