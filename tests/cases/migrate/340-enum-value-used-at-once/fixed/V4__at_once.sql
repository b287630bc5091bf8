-- lockstep: transaction=off
alter type tone add value if not exists 'top' after 'high';
insert into sound values ('top');
