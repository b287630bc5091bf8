-- ${nobody} knows ${owner}
create table ${Owner}_notes (note text default '${owner}', "${owner} x" text default '$${owner}'); /* ${nobody} */
${load}
data ${owner}	$${owner}
\.
insert into ${owner}_notes default values;
create function js() returns text language sql as $$ select '${value}' $$;
