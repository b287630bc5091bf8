-- Runs again whenever this file changes.
create or replace view order_totals as
select
    o.id as order_id,
    o.customer_id,
    o.status,
    coalesce(sum(l.quantity * l.price_cents), 0) as total_cents
from orders as o
left join order_lines as l on l.order_id = o.id
group by o.id;
