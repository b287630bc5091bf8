select 1;
-- lockstep: a=b
select E'a'
 'b\'c' ;