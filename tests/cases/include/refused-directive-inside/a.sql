-- lockstep: transaction=off
select 1;
