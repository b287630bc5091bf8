"""How long the lock was free while others waited for it, read from the clocks of history, server log and the runs' own logs."""
from datetime import datetime

from firing import expect

# A server looks every 2 s whether the client of a running statement is still there; a waiter tries once a second at least.
NOTICED, TRIED = 2.0, 1.0


def moment(event):
    return datetime.fromisoformat(event['time'].replace('Z', '+00:00')).timestamp()


def released_at(racers, rows, log):
    """Moments just before a run gave up the lock."""
    last = {row.run_id: row.finished_at for row in rows}
    return [*last.values(), *(racer.killed_at for racer in racers if racer.killed_at), *(time for time, *_ in log.errors())]


def crowd(racing):
    """How long it took until everybody was connected: so long this machine needs to give each of them some time."""
    connected = [moment(event) for racer in racing.racers for event in racer.events('connected')]
    return max(connected, default=racing.started_at) - racing.started_at


def judge_handoffs(racers, rows, log, racing):
    """No waiter is still there a second after it could go on. Returns the times that it took, in seconds."""
    free, took = released_at(racers, rows, log), []
    longest = TRIED + crowd(racing) + (NOTICED if any(racer.killed_at for racer in racers) else 0)
    for racer in racers:
        planned = racer.events('planned')
        if not planned or racer.document is None or racer.document['lock']['waited_ms'] == 0:
            continue
        # Who has nothing left to do need not wait for the release, but for the last row that it waited for.
        reasons = free if planned[0]['pending'] else [row.finished_at for row in rows]
        at, came = moment(planned[0]), moment(racer.events('connected')[0])
        took.append(at - max((time for time in reasons if came <= time <= at), default=came))
        expect(took[-1] <= longest, f'a waiter went on after {took[-1]:.1f} s, not {longest:.1f} s', racer.ended)
    return took


def in_words(took):
    """For the outcomes."""
    return {'hand-offs within 10 ms': sum(seconds <= 0.010 for seconds in took),
            'hand-offs within 100 ms': sum(0.010 < seconds <= 0.1 for seconds in took),
            'later hand-offs': sum(0.1 < seconds for seconds in took)}
