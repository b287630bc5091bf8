"""Races on one history: the same files, files that fail, processes that are killed, releases of different age."""
import time
from collections import Counter

from firing import expect
from race_files import LONG_KINDS, broken, repeatable, some_files
from race_judge import ServerLog, judge, judge_codes
from race_place import Place
from racing import Race, race, wait_until


def same_files(count, half_way):
    def run(lab, random):
        with lab.database() as database:
            place = Place(lab, database, some_files(random, random.randint(5, 9)))
            if half_way:
                place.half_way(random)
            log = ServerLog(lab)
            racing = race(place, count)
            codes = judge_codes(racing.racers, 0)
            (rows,), outcomes = judge(lab, racing, [place], log)
            place.judge_complete(rows)
        return codes + outcomes + Counter(faults=1)
    return run


def failing_file(count, kind, code):
    """Everybody tries and fails truthfully; after the file is mended the next ones finish."""
    def run(lab, random):
        files = some_files(random, random.randint(4, 7))
        at = random.randint(0, len(files) - 3)
        files[at] = kind(at + 1)
        with lab.database() as database:
            place, log = Place(lab, database, files), ServerLog(lab)
            place.rewrite([broken(files[at])])
            racing = race(place, count)
            codes = judge_codes(racing.racers, code)
            _, outcomes = judge(lab, racing, [place], log)
            judge_failures(racing, broken(files[at]), log)

            place.rewrite(files)
            log = ServerLog(lab)
            again = race(place, count)
            codes += judge_codes(again.racers, 0)
            (rows,), more = judge(lab, again, [place], log)
            place.judge_complete(rows)
        return codes + outcomes + more + Counter(faults=count)
    return run


def judge_failures(racing, file, log):
    """Each run tried the file itself, once, and names the line that failed."""
    tried = log.judge(racing.racers)
    line = file.text.count('\n')
    for racer in racing.racers:
        error = racer.document['error']
        where = (error['file'].rpartition('/')[2], error['line'], error['sqlstate'])
        expect(where == (file.script, line, '42703'), 'the error is not at the line that fails', racer.ended)
        expect(tried[racer.run_id] == 1, 'a run did not try the file once', tried, racer.ended)


def kills(count, signals):
    """Half of them get a signal at a moment of the seed's choice, every second time whoever is at work."""
    def run(lab, random):
        with lab.database() as database, Race(lab) as racing:
            place, log = Place(lab, database, some_files(random, random.randint(8, 12), LONG_KINDS)), ServerLog(lab)
            place.enter(racing, count)
            racing.start()
            faults = kill_some(random, racing, max(1, count // 2), signals)
            racing.end()
            codes = judge_codes(racing.racers, 0)
            (rows,), outcomes = judge(lab, racing, [place], log)
            if any(racer.killed_with is None for racer in racing.racers):
                place.judge_complete(rows)
        return codes + outcomes + Counter(faults=faults)
    return run


def kill_some(random, racing, count, signals):
    """Returns how many got a signal before their end."""
    for turn in range(count):
        number, victim = random.choice(signals), random.choice(racing.racers)
        if turn % 2 == 0:
            wait_until('somebody at work', lambda: at_work(racing) or not spared(racing))
            victim = at_work(racing) or victim
        time.sleep(random.choice((0, 0.003, 0.02, 0.1, 0.3)) * random.random())
        if not victim.killed_with:
            victim.kill(number)
    return sum(racer.killed_with is not None for racer in racing.racers)


def spared(racing):
    return [racer for racer in racing.running() if not racer.killed_with]


def at_work(racing):
    """Who has the lock, as far as the logs tell."""
    return next((racer for racer in spared(racing) if racer.events('planned')), None)


def releases(count):
    """Old pods never fail, and never put back what a newer release has brought."""
    def run(lab, random):
        sets = releases_of(random)
        older = [repeatable('a', release) for release in range(len(sets) - 1)]
        with lab.database() as database, Race(lab) as racing:
            place = Place(lab, database, sets[-1], older)
            directories = [*map(place.directory_of, sets[:-1]), place.directory]
            if random.random() < 0.3:
                place.half_way(random, directories[0], len(sets[0]) - 2)
            log = ServerLog(lab)
            for number in random.sample(range(count), count):
                place.enter(racing, 1, directory=directories[-1 - number % len(sets)])
            racing.start()
            racing.end()
            codes = judge_codes(racing.racers, 0)
            (rows,), outcomes = judge(lab, racing, [place], log)
            place.judge_complete(rows, but=older)
            judge_order(rows, sets)
        return codes + outcomes + Counter(faults=1)
    return run


def releases_of(random):
    """The files of each release. A repeatable changes with each, another one comes with the last."""
    newest = some_files(random, random.randint(8, 10), repeatables=0)
    lengths = sorted(random.sample(range(4, len(newest)), random.randint(1, 2))) + [len(newest)]
    sets = [[*newest[:length], repeatable('a', release), repeatable('b')] for release, length in enumerate(lengths)]
    sets[-1].append(repeatable('c'))
    return sets


def judge_order(rows, sets):
    """A repeatable of an older release came before the first version of the next one."""
    for release, files in enumerate(sets[:-1]):
        old = next((row for row in rows if row.checksum == repeatable('a', release).checksum), None)
        first_new = next(row for row in rows if row.script == sets[release + 1][len(files) - 2].script)
        expect(old is None or old.rank < first_new.rank, 'an older release has put its repeatable back', rows)
