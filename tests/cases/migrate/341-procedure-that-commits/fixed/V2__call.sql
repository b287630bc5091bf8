-- lockstep: transaction=off
create table before_call ();
call fill(3);
