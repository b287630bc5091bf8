"""A schema of an attacker that stands before pg_catalog in the search_path and has a function, an operator, a type, a
table or a view for nearly every name of pg_catalog. Whoever uses one of them by accident fails."""
from deployment import as_usual, directories, expect_as_usual, fresh_target, say_all
from firing import Case, expect, lockstep

FUNCTIONS = """
create schema evil;
create function evil.sprung(what pg_catalog.text) returns void language plpgsql as $$
begin raise exception 'the trap % was sprung', what; end $$;
do $$
declare
  f record;
begin
  for f in
    select p.proname, p.proretset, p.prorettype::regtype as result,
           (select coalesce(string_agg(a.type::regtype::text, ', ' order by a.n), '')
            from unnest(p.proargtypes) with ordinality as a (type, n)) as arguments
    from pg_proc as p
    where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and p.provariadic = 0
      and not exists (select from pg_type as t where t.typtype = 'p'
                      and (t.oid = p.prorettype or t.oid = any (p.proargtypes)))
  loop
    execute format('create function evil.%I(%s) returns %s%s language plpgsql as $b$begin perform evil.sprung(%L); end$b$',
                   f.proname, f.arguments, case when f.proretset then 'setof ' else '' end, f.result,
                   f.proname);
  end loop;
end $$;
"""
OPERATORS = """
do $$
declare
  o record;
  n int := 0;
begin
  for o in
    select p.oprname, p.oprresult::regtype as result, nullif(p.oprleft, 0)::regtype as l, p.oprright::regtype as r
    from pg_operator as p
    where p.oprnamespace = 'pg_catalog'::regnamespace and p.oprresult <> 0 and p.oprright <> 0
      and not exists (select from pg_type as t where t.typtype = 'p' and t.oid in (p.oprresult, p.oprleft, p.oprright))
  loop
    n := n + 1;
    execute format('create function evil.operator_%s(%s) returns %s language plpgsql as $b$begin perform evil.sprung(%L); end$b$',
                   n, concat_ws(', ', o.l, o.r), o.result, o.oprname);
    execute format('create operator evil.%s (function = evil.operator_%s, %s rightarg = %s)',
                   o.oprname, n, 'leftarg = ' || o.l || ',', o.r);
  end loop;
end $$;
"""
TYPES = """
do $$
declare
  t record;
begin
  for t in select typname, typtype from pg_type
           where typnamespace = 'pg_catalog'::regnamespace and typtype = 'b' and typname !~ '^_' loop
    execute format('create domain evil.%I as pg_catalog.%I check (pg_catalog.pg_backend_pid() operator(pg_catalog.=) 0)',
                   t.typname, t.typname);
  end loop;
end $$;
"""
RELATIONS = """
do $$
declare
  r record;
begin
  for r in select c.relname from pg_class as c
           where c.relnamespace = 'pg_catalog'::regnamespace and c.relkind in ('r', 'v') loop
    execute format('create view evil.%I as select 1 as trap', r.relname);
  end loop;
end $$;
"""
CENSUS = """
select (select count(*) from pg_proc where pronamespace = 'evil'::regnamespace),
       (select count(*) from pg_operator where oprnamespace = 'evil'::regnamespace),
       (select count(*) from pg_type where typnamespace = 'evil'::regnamespace and typtype = 'd'),
       (select count(*) from pg_class where relnamespace = 'evil'::regnamespace);
"""
REACH = 'grant usage on schema evil to public; grant select on all tables in schema evil to public;'


def shadowed(path):
    def run(lab, _):
        as_usual(lab)
        with lab.database() as database:
            target = fresh_target(lab, database)
            traps = lab.server.query(FUNCTIONS + OPERATORS + TYPES + RELATIONS + REACH + CENSUS, database)[-1]
            expect(all(int(count) > 50 for count in traps), 'there are traps of every sort', traps)
            lab.server.query(f'alter database {database} set search_path = {path}')
            variables = {'LOCKSTEP_HISTORY_SCHEMA': 'public', 'LOCKSTEP_CLEAN_ENABLED': 'true', 'LOCKSTEP_CLEAN_SCHEMAS': 'app'}
            expect_as_usual(lab, target, say_all(lab, target, environment=variables), path)
            for command in (('repair',), ('clean', '--confirm', database), ('baseline', '--version', '7')):
                done = lockstep(lab, *command, '-u', target.url, '-d', directories(lab)[0], environment=variables)
                expect(done.code == 0, f'{path}: {command[0]} works', done)
        return {'faults': sum(map(int, traps)), 'the same': 1}
    return run


def cases():
    yield Case('an attacker before pg_catalog', shadowed('public, evil, pg_catalog'), fixed=True)
    yield Case('an attacker before everything', shadowed('evil, public, pg_catalog'))
    yield Case('an attacker behind pg_catalog', shadowed('evil, public'))
