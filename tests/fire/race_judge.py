"""What must hold when many runs are over, beside what their places tell: exit codes, connections, the server's log."""
import re
import signal
from collections import Counter

from firing import expect
from handoff import in_words, judge_handoffs
from psql_session import PsqlSession
from racing import wait_until

LOG_LINE = re.compile(r'^(\d+\.\d+) (\d+) \S* (ERROR|FATAL|PANIC|WARNING):  (.*)$')
AUTHORIZED = re.compile(r'^\S+ (\d+) \S* LOG:  connection authorized: .* application_name=lockstep \S+ (\S+)')
LOCKSTEP_SESSIONS = "select count(*) from pg_stat_activity where application_name like 'lockstep %'"
ADVISORY_LOCKS = "select pid, database, classid, objid, mode from pg_locks where locktype = 'advisory'"
REFUSED = 'sorry, too many clients already|remaining connection slots are reserved'
NOTHING = '$^'
CONNECTIONS = 2  # the session, and the observer of what takes long

ON_PURPOSE = re.compile('column "broken_on_purpose" does not exist')
# What a server says of a client that was killed; nobody else may cause these.
BY_A_KILL = re.compile('canceling statement due to user request|connection to client lost')


class ServerLog:
    """What the server wrote since this was made."""

    def __init__(self, lab):
        self.lab, self.offset = lab, lab.log_end()

    def lines(self):
        return self.lab.log_since(self.offset).splitlines()

    def errors(self):
        """(time, pid, level, message)"""
        found = [line.groups() for line in map(LOG_LINE.match, self.lines()) if line]
        return [(float(time), int(pid), level, message) for time, pid, level, message in found]

    def connections(self):
        """pid of the backend to the run id in its application_name"""
        return {int(pid): run for pid, run in (seen.groups() for seen in map(AUTHORIZED.match, self.lines()) if seen)}

    def judge(self, racers, expected=NOTHING):
        """No error but those of files, of killed runs, and the expected ones. Returns how many of its files each run had."""
        own, runs = Counter(), self.connections()
        # Who was killed early has not told its id.
        lived = {racer.run_id for racer in racers if not racer.killed_with}
        for time, pid, level, message in self.errors():
            killed = pid in runs and runs[pid] not in lived
            if ON_PURPOSE.search(message):
                own[runs.get(pid)] += 1
            elif re.search(REFUSED, message) and re.search(expected, message):
                runs.pop(pid, None)  # it never was a connection
            elif not (re.search(expected, message) or killed and BY_A_KILL.search(message)):
                expect(False, 'an error in the server log that is no file\'s own', f'{time} {pid} {level} {message}',
                       'of all:', *self.errors())
        most = Counter(runs.values()).most_common(1)
        expect(not most or most[0][1] <= CONNECTIONS, f'a run has more than {CONNECTIONS} connections', most)
        return own


def judge_codes(racers, *allowed):
    """Who got no signal ends with one of these exit codes, the others with their signal if they had not ended before."""
    codes = Counter()
    for racer in racers:
        number = racer.killed_with
        ours = () if number is None else (-number,) if number == signal.SIGKILL else (-number, 128 + number)
        expect(racer.ended.code in (*allowed, *ours), f'the exit code is none of {allowed} {ours}', racer.ended)
        codes[f'exit {racer.ended.code}'] += 1
    return codes


def judge(lab, racing, places, log, expected=NOTHING):
    """What holds after every race. Returns the history of each place, and the outcomes."""
    histories = judge_left(lab, racing, places, log, expected)
    took = [seconds for place, rows in zip(places, histories) for seconds in judge_handoffs(place.racers, rows, log, racing)]
    return histories, Counter({**in_words(took), 'runs': len(racing.racers)})


def judge_left(lab, racing, places, log, expected=NOTHING):
    """The same without a look at the time that the lock was free."""
    with PsqlSession(lab.server) as psql:
        wait_until('the sessions of all runs to end', lambda: psql.query(LOCKSTEP_SESSIONS) == [['0']], 10)
        left = psql.query(ADVISORY_LOCKS)
        expect(not left, 'an advisory lock is left', left)
        histories = [place.judge(psql) for place in places]
    log.judge(racing.racers, expected)
    return histories
