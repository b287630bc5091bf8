"""Pid namespaces, as containers have them: who listens at a unix socket is told by pids, and those differ in there."""
import os
import subprocess
from collections import Counter

import pool_judge
from firing import Case, expect
from lab import Lab
from throwaway_server import ThrowawayServer, unprivileged

NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--']
STRICT = ('--pooler', 'refuse')


class ContainedServer(ThrowawayServer):
    """It is the first process of its namespace."""
    own_pid = 1

    def started(self, command, **keywords):
        user = unprivileged()
        # Who changes its user forgets that it is to die with its parent.
        as_user = ['setpriv', f"--reuid={user['user']}", f"--regid={user['group']}", '--clear-groups', '--pdeathsig=KILL', '--']
        return subprocess.Popen([*NAMESPACE, *as_user, *command], **keywords)


def contained_server(lab, _):
    """Seen from outside it is direct."""
    with Lab(lab.lockstep, lab.server.bin, kind=ContainedServer) as contained, contained.database() as database:
        run = pool_judge.migrate(contained, contained.server.url_of(database), *STRICT)
        return Counter(['direct ' + word for word in pool_judge.judge_direct(contained, database, run)], faults=1)


def contained_lockstep(lab, _):
    """Who listens outside is not seen from inside: nothing is taken for direct that is not proved, and the probe accepts it."""
    with lab.database() as database:
        within = ('unshare', '--mount-proc', *NAMESPACE[1:])
        refused = pool_judge.migrate(lab, lab.server.url_of(database), *STRICT, within=within)
        expect(refused.code == 5, 'what cannot be seen is not proved to be direct', refused)
        pool_judge.expect_nothing_written(lab, database, refused)
        run = pool_judge.migrate(lab, lab.server.url_of(database), within=within)
        return Counter(pool_judge.judge_session(lab, database, run), faults=2, refused=1)


def cases():
    if os.geteuid() == 0:
        yield Case('a server in a container', contained_server)
        yield Case('lockstep in a container', contained_lockstep)
