"""Whether what a run said of itself is true: exit code, JSON and message against the state before and after."""
import os
from collections import Counter

from firing import expect

# docs/exit-codes.md: a fault from outside is no reason for any other.
ALLOWED = (0, 4, 6, 7, 75, 130, 143)


def told_scripts(report):
    return Counter(one['script'] for one in report.get('applied', report.get('undone', [])))


def told_change(report):
    """Whether baseline or repair say that they changed the history."""
    return report.get('recorded', False) or report.get('repaired', False)


def check_doubt(report, silent, evidence):
    """A run that is in doubt names the file, and nothing else may have happened that it does not tell."""
    about = os.path.basename(report['error']['file'] or '')
    if report['command'] in ('migrate', 'undo'):
        expect(set(silent) <= {about}, 'more happened than the file that is said to be in doubt', *evidence)


def verdict_on(run, before, after, final):
    """The outcome in a word or two; Broken when the run said what is not true."""
    evidence = (run, before, after)
    if run.code < 0 or (run.code in (130, 143) and not run.out):  # while it connects, a signal ends it at once
        return 'killed'
    expect(run.code in ALLOWED, f'exit code {run.code} is not one for a fault from outside', *evidence)
    report = run.json
    expect(report['exit_code'] == run.code and report['ok'] == (run.code == 0), 'the JSON has another exit code', *evidence)
    done, told = after.applied() - before.applied(), told_scripts(report)
    expect(not told - done, 'the run tells of files that are not applied', *evidence)
    if run.code == 0:
        found = [(row.script, row.state) for row in after.history]
        expect(found == list(final), 'exit 0, and not everything is done', *evidence)
        return 'done'
    error = report['error']
    expect(error and error['message'] and error['hint'], 'an error has a message and says what to do', *evidence)
    lost = error['code'] in ('connection_lost', 'commit_in_doubt')
    expect(not (lost and 'Mend' in error['hint']), 'nothing is to be mended when the connection was lost', *evidence)
    silent = done - told
    changed = after.history != before.history and report['command'] in ('baseline', 'repair')
    if error['code'] == 'commit_in_doubt':
        check_doubt(report, silent, evidence)
        return 'in doubt, done' if silent or changed else 'in doubt, not done'
    expect(not silent, 'files were applied, and the run does not tell', *evidence)
    expect(not changed or told_change(report), 'the history was changed, and the run does not tell', *evidence)
    return f'exit {run.code}'
