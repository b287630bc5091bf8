"""Event triggers on every DDL command: some must make no difference, others rightly stop the run, which then says why."""
from deployment import as_usual, directories, expect_as_usual, fresh_target, left_in, say_all
from firing import Case, expect, lockstep

# title: what the trigger does, how the run ends, what its error says
TRIGGERS = {
    'writes': ('insert into public.seen values (tg_tag);', 0, ''),
    'changes search_path': ("perform pg_catalog.set_config('search_path', 'evil', false);", 0, ''),
    'makes the session read only': ("perform pg_catalog.set_config('default_transaction_read_only', 'on', false);", 0, ''),
    'listens and notifies': ("perform pg_catalog.pg_notify('lockstep_1280262987_3787227968', '');", 0, ''),
    'raises': ("raise exception 'no DDL here';", 6, 'no DDL here'),
    'raises on tables': ("if tg_tag = 'CREATE TABLE' then raise exception 'no tables here'; end if;", 6, 'no tables here'),
    'releases every lock': ('perform pg_catalog.pg_advisory_unlock_all();', 6, 'lock'),
}
SETUP = '''
create table public.seen (tag pg_catalog.text);
grant all on public.seen to public;
create function public.on_ddl() returns event_trigger language plpgsql as $$ begin {body} end $$;
create event trigger on_ddl on ddl_command_end execute function public.on_ddl();
'''


def triggered(title, body, code, says):
    def run(lab, _):
        as_usual(lab)
        with lab.database() as database:
            target = fresh_target(lab, database)
            lab.server.query(SETUP.format(body=body), database)
            if code == 0:
                expect_as_usual(lab, target, say_all(lab, target), f'a trigger that {title}')
                return {'faults': 1, 'the same': 1}
            good, _ = directories(lab)
            done = lockstep(lab, 'migrate', '-u', target.url, '-d', good)
            expect(done.code == code and says in done.err, f'a trigger that {title} stops the run', done)
            lab.server.query('drop event trigger on_ddl', database)
            again = lockstep(lab, 'migrate', '-u', target.url, '-d', good)
            expect(again.code == 0 and left_in(lab, target) == as_usual(lab)[1], 'without it the run goes on', again)
        return {'faults': 1, 'stopped, and said why': 1}
    return run


def cases():
    for title, (body, code, says) in TRIGGERS.items():
        yield Case(f'event trigger that {title}', triggered(title, body, code, says), fixed=title == 'releases every lock')
