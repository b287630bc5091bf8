"""Settings of a role or a database that change what a session begins with, one a line: nothing that lockstep does may
depend on them, or it stops and says which one it was."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    name: str
    value: str  # as ALTER ROLE … SET takes it
    since: int = 12
    code: int = 0  # how migrate ends
    says: str = ''  # and what the error says then

    @property
    def title(self):
        return f'{self.name} = {self.value}'


def usual(name, value, since=12):
    return Setting(name, value, since)


def stops(name, value, code, says, since=12):
    return Setting(name, value, since, code, says)


SETTINGS = (
    usual('search_path', 'public, no_such_schema'),
    usual('search_path', 'no_such_schema, public'),
    usual('search_path', 'public, "$user", pg_catalog'),
    stops('search_path', 'pg_temp, public', 2, 'temporary'),
    stops('search_path', "''", 2, 'history.schema'),
    stops('search_path', 'no_such_schema', 2, 'history.schema'),
    stops('default_transaction_read_only', 'on', 5, 'default_transaction_read_only is on'),
    usual('default_transaction_isolation', 'serializable'),
    usual('default_transaction_isolation', "'repeatable read'"),
    usual('default_transaction_isolation', "'read uncommitted'"),
    usual('default_transaction_deferrable', 'on'),
    usual('idle_in_transaction_session_timeout', '1'),
    usual('idle_session_timeout', "'1s'", since=14),
    usual('transaction_timeout', "'2s'", since=17),
    usual('lock_timeout', '1'),
    usual('deadlock_timeout', '1'),
    usual('statement_timeout', "'20s'"),
    usual('client_encoding', 'LATIN1'),
    usual('client_encoding', 'SQL_ASCII'),
    usual('client_encoding', 'UTF8'),
    usual('client_encoding', 'EUC_JP'),
    usual('bytea_output', 'escape'),
    usual('DateStyle', "'German, DMY'"),
    usual('DateStyle', "'SQL, MDY'"),
    usual('IntervalStyle', 'iso_8601'),
    usual('IntervalStyle', 'sql_standard'),
    usual('TimeZone', "'Pacific/Kiritimati'"),
    usual('timezone_abbreviations', "'India'"),
    usual('standard_conforming_strings', 'off'),
    usual('escape_string_warning', 'off'),
    usual('backslash_quote', 'on'),
    usual('row_security', 'off'),
    usual('session_replication_role', 'replica'),
    usual('session_replication_role', 'local'),
    usual('client_min_messages', 'error'),
    usual('client_min_messages', 'warning'),
    usual('log_statement', "'all'"),
    usual('log_min_duration_statement', '0'),
    usual('log_parameter_max_length_on_error', '1000', since=13),
    usual('log_error_verbosity', 'verbose'),
    usual('extra_float_digits', '-15'),
    usual('check_function_bodies', 'off'),
    usual('default_tablespace', "'no_such_tablespace'"),
    usual('default_tablespace', "''"),
    usual('temp_tablespaces', "'no_such_tablespace'"),
    usual('default_table_access_method', 'no_such_method'),
    usual('default_toast_compression', 'pglz', since=14),
    usual('default_text_search_config', "'pg_catalog.german'"),
    usual('default_statistics_target', '10000'),
    usual('quote_all_identifiers', 'on'),
    usual('lc_messages', "'C'"),
    usual('lc_monetary', "'C.UTF-8'"),
    usual('lc_numeric', "'C.UTF-8'"),
    usual('lc_time', "'C.UTF-8'"),
    usual('xmloption', 'document'),
    usual('xmlbinary', 'hex'),
    usual('array_nulls', 'off'),
    usual('transform_null_equals', 'on'),
    usual('synchronize_seqscans', 'off'),
    usual('lo_compat_privileges', 'on'),
    usual('enable_seqscan', 'off'),
    usual('enable_indexscan', 'off'),
    usual('enable_hashjoin', 'off'),
    usual('enable_nestloop', 'off'),
    usual('enable_mergejoin', 'off'),
    usual('enable_sort', 'off'),
    usual('enable_material', 'off'),
    usual('enable_async_append', 'off', since=14),
    usual('work_mem', "'64kB'"),
    usual('maintenance_work_mem', "'1MB'"),
    usual('temp_buffers', "'800kB'"),
    usual('temp_file_limit', "'1MB'"),
    usual('max_parallel_workers_per_gather', '0'),
    usual('plan_cache_mode', 'force_generic_plan'),
    usual('geqo_threshold', '2'),
    usual('join_collapse_limit', '1'),
    usual('from_collapse_limit', '1'),
    usual('constraint_exclusion', 'on'),
    usual('jit', 'on'),
    usual('jit_above_cost', '0'),
    usual('synchronous_commit', 'remote_apply'),
    usual('commit_delay', '1000'),
    usual('tcp_keepalives_idle', '1'),
    usual('application_name', "'somebody else'"),
    usual('track_activities', 'off'),
    usual('track_functions', "'all'"),
    usual('update_process_title', 'off'),
    usual('vacuum_cost_delay', '100'),
    usual('gin_fuzzy_search_limit', '1'),
    usual('stats_fetch_consistency', 'snapshot', since=15),
    stops('session_preload_libraries', "'no_such_library'", 4, 'no_such_library'),
    stops('local_preload_libraries', "'no_such_library'", 4, 'no_such_library'),
    usual('app.anything', "'x'"),
)
