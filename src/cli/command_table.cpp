#include <algorithm>
#include <array>

#include "cli/command.h"
#include "cli/commands.h"

namespace lockstep::cli {
namespace {

constexpr OptionSpec out_of_order{"--out-of-order", "", "migrate.out_of_order",
                                  "apply versions that are older than the newest applied one"};
constexpr OptionSpec on_busy{"--on-busy", "WHAT", "lock.on_busy",
                             "when another run holds the lock: wait, fail or skip", "wait|fail|skip"};
constexpr OptionSpec lock_wait{"--lock-wait", "DURATION", "lock.wait",
                               "how long to wait for the migration lock"};
constexpr OptionSpec target{"--target", "VERSION", "", "stop after this version"};

constexpr std::array global{
    OptionSpec{"-u,--url", "URL", "database.url",
               "the database: a URL or key=value pairs, as libpq takes them"},
    OptionSpec{"-d,--dir", "DIR", "migrations.dirs", "a directory of migrations; may be given several times"},
    OptionSpec{"--set", "NAME=VALUE", "placeholders",
               "what ${NAME} stands for in the migrations; may be given several times"},
    OptionSpec{"-c,--config", "FILE", "", "the configuration file (default ./lockstep.toml if it exists)"},
    OptionSpec{"-e,--env", "NAME", "", "use the sections [env.NAME.*] of the configuration file"},
    OptionSpec{"--ephemeral", "", "", "use a throwaway server instead of a configured database"},
    OptionSpec{"--pooler", "WHAT", "database.pooler",
               "what to do about a connection pooler: auto, refuse or assume-session",
               "auto|refuse|assume-session"},
    OptionSpec{"--wait-for-db", "DURATION", "database.wait_for_db",
               "how long to go on trying while the server cannot be reached yet"},
    OptionSpec{"--output", "FORM", "output.format", "the result on standard output: text or json",
               "text|json"},
    OptionSpec{"--log-format", "FORM", "output.log_format", "the log on standard error: text or json",
               "text|json"},
    OptionSpec{"--progress", "FORM", "output.progress", "progress on standard error: auto, plain or none",
               "auto|plain|none"},
    OptionSpec{"--color", "WHEN", "output.color", "colours: auto, always or never", "auto|always|never"},
    OptionSpec{"-q,--quiet", "", "", "log only warnings and errors"},
    OptionSpec{"-v,--verbose", "", "", "log more"},
    OptionSpec{"-h,--help", "", "", "show help and exit"},
    OptionSpec{"--version", "", "", "show the versions and exit"},
};

constexpr std::array migrate_options{
    target,       OptionSpec{"--dry-run", "", "", "show what would be applied and change nothing"},
    out_of_order, on_busy,
    lock_wait,
};
constexpr std::array info_options{
    OptionSpec{"--check", "", "", "exit with 1 when something is pending"},
};
constexpr std::array validate_options{
    OptionSpec{"--offline", "", "", "check the files alone, without a database"},
    OptionSpec{"--strict", "", "",
               "also fail when the database is newer than the files, or a repeatable's file is gone"},
};
constexpr std::array plan_options{target, out_of_order};
constexpr std::array baseline_options{
    OptionSpec{"--version", "VERSION", "", "the version that the database has already"},
    OptionSpec{"--description", "TEXT", "", "what the history says about it (default \"baseline\")"},
    on_busy,
    lock_wait,
};
constexpr std::array repair_options{
    OptionSpec{"--yes", "", "", "make the changes without asking"},
    OptionSpec{"--statement-done", "STATEMENT", "",
               "a statement in doubt, such as V7:3, was done: go on behind it"},
    OptionSpec{"--statement-again", "STATEMENT", "", "it was not done: go on with it"},
    on_busy,
    lock_wait,
};
constexpr std::array undo_options{
    OptionSpec{"--target", "VERSION", "", "undo every version above this one; without it, the newest alone"},
    OptionSpec{"--dry-run", "", "", "show what would be undone and change nothing"},
    on_busy,
    lock_wait,
};
constexpr std::array clean_options{
    OptionSpec{"--confirm", "DATABASE", "", "the database's name, instead of typing it when asked"},
    OptionSpec{"--dry-run", "", "", "show what would be dropped and change nothing"},
    on_busy,
    lock_wait,
};
constexpr std::array new_options{
    OptionSpec{"--repeatable", "", "", "a migration that runs again whenever its file changes (R__…)"},
};

constexpr std::array table{
    CommandSpec{
        "migrate", "Apply every pending migration, in version order", "", Operands::none,
        "Starts that happen at the same time are safe: one run applies the migrations, the others wait "
        "for it and then find nothing to do.\n"
        "Files and history are checked first; with a problem in any of them nothing is applied. Each "
        "migration and its record in the history are committed together.",
        "lockstep migrate                      apply what is pending\n"
        "lockstep migrate --target 12          stop after version 12\n"
        "lockstep migrate --dry-run            show what would be applied\n"
        "lockstep migrate --on-busy skip       leave the work to a run that is under way",
        Needs::database, migrate_options, run_migrate,
        R"({"applied":[],"skipped":0,"pending":null,"lock":{"namespace":null,"resource":null,"waited_ms":0},"database":null,"duration_ms":0})"},
    CommandSpec{
        "info", "Show every migration and its state", "", Operands::none,
        "Reads only: works with a role that may only select from the history table.",
        "lockstep info                         a table of all migrations\n"
        "lockstep info --check                 exit with 1 when something is pending",
        Needs::database, info_options, run_info,
        R"({"database":null,"history":{"schema":null,"table":null},"version":null,"pending":null,"migrations":[]})"},
    CommandSpec{"validate", "Check the files, and the history against them", "", Operands::none,
                "Exit 0 when all is well, 3 when something is wrong; every problem is reported. Pending "
                "migrations are no problem.",
                "lockstep validate                     files and history\n"
                "lockstep validate --offline           files alone, for CI",
                Needs::database, validate_options, run_validate, R"({"checked":0,"database":null})"},
    CommandSpec{
        "plan", "Print the SQL that migrate would send", "", Operands::none,
        "Reads only. What is printed is sent as it stands, in this order, by a migrate that starts from "
        "the same history.",
        "lockstep plan                         all that is pending\n"
        "lockstep plan --target 12 | less      up to version 12",
        Needs::database, plan_options, run_plan, R"({"database":null,"steps":[]})"},
    CommandSpec{
        "baseline", "Declare that the database already is at a version", "", Operands::none,
        "For a database that was made by other means: migrations up to this version will never run on "
        "it.",
        "lockstep baseline --version 7         history starts at version 7", Needs::database,
        baseline_options, run_baseline, R"({"database":null,"version":null,"recorded":false})"},
    CommandSpec{
        "repair", "Make the history agree with the files", "", Operands::none,
        "Takes the checksum, description and name of edited or renamed files into the history, and "
        "marks rows whose file is gone as deleted. Runs no SQL of yours. Shows its plan and asks first.",
        "lockstep repair                       show the plan, ask, repair\n"
        "lockstep repair --yes                 repair without asking\n"
        "lockstep repair --statement-done V7:3 statement 3 of V7 was done when the connection died",
        Needs::database, repair_options, run_repair, R"({"database":null,"repaired":false,"changes":[]})"},
    CommandSpec{
        "undo", "Take back the newest migration with its U file", "", Operands::none,
        "Runs U<version>__<description>.sql, the newest version first, each one in a transaction with its "
        "record in the history. What was undone is pending again. Repeatable migrations are not undone.\n"
        "Off unless undo.enabled (LOCKSTEP_UNDO_ENABLED) is true, but for --dry-run.",
        "lockstep undo                         take back the newest version\n"
        "lockstep undo --target 12             take back every version above 12\n"
        "lockstep undo --target 12 --dry-run   show which ones these are",
        Needs::database, undo_options, run_undo,
        R"({"undone":[],"pending":null,"lock":{"namespace":null,"resource":null,"waited_ms":0},"database":null,"duration_ms":0})"},
    CommandSpec{
        "clean", "Drop everything in the schemas of the migrations", "", Operands::none,
        "Empties the schemas of clean.schemas (default: that of the history) in one transaction, whatever "
        "the "
        "kind of object, with the history table. The schemas themselves and what belongs to extensions "
        "stay. If anything elsewhere depends on what would be dropped, it is named and nothing is dropped.\n"
        "Off unless clean.enabled (LOCKSTEP_CLEAN_ENABLED) is true, but for --dry-run. Asks for the name of "
        "the database first.",
        "lockstep clean                        ask, then drop\n"
        "lockstep clean --confirm shop_test    drop without asking\n"
        "lockstep clean --dry-run              list what would be dropped",
        Needs::database, clean_options, run_clean,
        R"({"database":null,"schemas":[],"cleaned":false,"objects":[]})"},
    CommandSpec{
        "new", "Create the next migration file", "DESCRIPTION", Operands::one,
        "The version goes on as the existing files do: the next number, or the time in UTC where they "
        "look like times. The file's path is printed.",
        "lockstep new \"add orders\"             V4__add_orders.sql\n"
        "lockstep new --repeatable reports     R__reports.sql",
        Needs::settings, new_options, run_new, R"({"path":null,"script":null,"version":null})"},
    CommandSpec{"config",
                "Show every setting, and where its value comes from",
                "",
                Operands::none,
                "Secrets are masked. A flag is stronger than the environment, the environment stronger than "
                "lockstep.toml, and there [env.NAME.*] is stronger than the rest.",
                "lockstep config                       the settings in use\n"
                "lockstep --env prod config            those of the environment prod",
                Needs::settings,
                {},
                run_config,
                R"({"settings":[]})"},
    CommandSpec{
        "ephemeral",
        "Run a command against a throwaway PostgreSQL",
        "-- COMMAND [ARGUMENTS]",
        Operands::rest,
        "The command finds the server in LOCKSTEP_URL, DATABASE_URL and libpq's PG variables. The server "
        "listens on a private socket only and is removed afterwards. The command's exit status is "
        "passed on.",
        "lockstep ephemeral -- psql            a prompt on an empty database\n"
        "lockstep ephemeral -- make test       tests that need a database",
        Needs::nothing,
        {},
        run_ephemeral},
    CommandSpec{"completion",
                "Print a completion script for a shell",
                "bash|zsh|fish",
                Operands::one,
                "",
                "source <(lockstep completion bash)    in ~/.bashrc\n"
                "lockstep completion zsh > ~/.zfunc/_lockstep\n"
                "lockstep completion fish > ~/.config/fish/completions/lockstep.fish",
                Needs::nothing,
                {},
                run_completion,
                R"({"shell":null,"script":null})"},
    CommandSpec{"version",
                "Show the versions of lockstep and libpq",
                "",
                Operands::none,
                "",
                "",
                Needs::nothing,
                {},
                run_version,
                R"({"version":null,"libpq":null})"},
    CommandSpec{"help",
                "Show help about a command",
                "[COMMAND]",
                Operands::one,
                "",
                "",
                Needs::nothing,
                {},
                run_help},
};

}  // namespace

std::span<const CommandSpec> commands() {
  return table;
}

std::span<const OptionSpec> global_options() {
  return global;
}

const CommandSpec* find_command(std::string_view name) {
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const auto& command) { return command.name == name; });
  return found == table.end() ? nullptr : found;
}

}  // namespace lockstep::cli
