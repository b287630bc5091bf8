-- lockstep: placeholders=bodies
create function greeting() returns text language sql as $f$ select 'hello ${owner}, $${owner}, ${missing:nobody}' $f$;
