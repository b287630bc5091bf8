-- lockstep: transaction=off
select 1;
-- lockstep: late
select 2;