select string_agg(version || ' ' || state, ', ' order by rank) from lockstep_history;
select count(*) from pet join owner on owner.id = pet.owner;
