#include "cli/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/settings_placeholders.h"
#include "core/text.h"
#include "lockstep_version.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view default_config = "lockstep.toml";

Failure config_failure(std::string code, std::string message, std::string hint) {
  Error error{.kind = ErrorKind::config, .code = std::move(code), .message = std::move(message)};
  error.hints.push_back(std::move(hint));
  return Failure(std::move(error));
}

Failure no_database() {
  return config_failure(
      "no_database", "no database configured",
      "Set LOCKSTEP_URL, for example to postgresql://user@host:5432/database, or give --url; "
      "--ephemeral uses a throwaway server.");
}

Coloring coloring_of(ColorMode mode, const Terminal& terminal, const Environment& environment) {
  if (mode == ColorMode::detect) {
    const bool wanted = terminal.is_terminal && !variable(environment, "NO_COLOR") &&
                        variable(environment, "TERM").value_or("") != "dumb";
    return wanted ? Coloring::on : Coloring::off;
  }
  return mode == ColorMode::always ? Coloring::on : Coloring::off;
}

Progress progress_of(ProgressMode mode, const Terminal& terminal, const Environment& environment) {
  if (mode == ProgressMode::none) return Progress::none;
  if (mode == ProgressMode::plain) return Progress::plain;
  const bool dumb = variable(environment, "TERM").value_or("") == "dumb";
  return terminal.is_terminal && !dumb ? Progress::live : Progress::none;
}

/// Until the settings are settled, the log is plain text without colours.
std::unique_ptr<Log> first_log(const Context& context, const Redactor& redactor) {
  return make_log(context.err, redactor, {.now = context.now});
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

}  // namespace

Run::Run(const Context& context, Arguments arguments, const std::vector<std::string>& words)
    : context_(context),
      arguments_(std::move(arguments)),
      run_id_(context.random_uuid()),
      out_(context.out, redactor_),
      log_(first_log(context, redactor_)) {
  learn_secrets(words);
}

/// A command line that does not parse holds its secrets, too: every word is looked at.
void Run::learn_secrets(const std::vector<std::string>& words) {
  for (const auto* const name : {"LOCKSTEP_URL", "LOCKSTEP_DATABASE_URL", "DATABASE_URL"}) {
    if (const auto url = variable(context_.environment, name)) redactor_.learn_conninfo(*url);
  }
  for (const auto& word : words) {
    const bool flag_with_value = word.starts_with("--") && word.find('=') != std::string::npos;
    redactor_.learn_conninfo(flag_with_value ? word.substr(word.find('=') + 1) : word);
  }
  if (const auto password = variable(context_.environment, "PGPASSWORD")) redactor_.learn(*password);
  for (const auto* const name : {"PGUSER", "PGHOST", "PGDATABASE"}) {
    if (const auto value = variable(context_.environment, name)) redactor_.know_name(*value);
  }
}

void Run::settle() {
  loaded_ = load_settings({.flags = arguments_.settings,
                           .environment = context_.environment,
                           .config = read_config(),
                           .overlay = overlay()});
  redactor_.learn_conninfo(loaded_.settings.url);
  for (const auto& [name, value] : loaded_.settings.placeholders.values) {
    if (looks_secret(name)) redactor_.learn(value);
  }
  if (!loaded_.problems.empty()) throw Failure(loaded_.problems);
  log_ = make_run_log();
}

std::optional<ConfigFile> Run::read_config() const {
  auto path = arguments_.value("--config");
  std::string origin = "--config";
  if (!path) {
    path = variable(context_.environment, "LOCKSTEP_CONFIG");
    origin = "LOCKSTEP_CONFIG";
  }
  auto file = context_.read_text_file(path.value_or(std::string(default_config)));
  if (file) return ConfigFile{path.value_or(std::string(default_config)), std::move(file->text)};
  if (!path) return std::nullopt;
  throw config_failure("config_not_found", fmt::format("{}: there is no file {}", origin, printable(*path)),
                       "Give the path of a lockstep.toml, or leave it out.");
}

std::optional<Overlay> Run::overlay() const {
  if (const auto name = arguments_.value("--env"); name && !name->empty()) return Overlay{*name, "--env"};
  const auto name = variable(context_.environment, "LOCKSTEP_ENV");
  return name ? std::optional(Overlay{*name, "LOCKSTEP_ENV"}) : std::nullopt;
}

void Run::use_server(const ServerAddress& server) {
  loaded_.settings.url = server.url;
  loaded_.settings.password_file.clear();
}

Coloring Run::coloring() const {
  return coloring_of(settings().color, context_.out_terminal, context_.environment);
}

std::unique_ptr<Log> Run::make_run_log() const {
  const auto& environment = context_.environment;
  LogOptions options{.format = settings().log_format};
  if (arguments_.has("--verbose")) options.verbosity = Verbosity::verbose;
  if (arguments_.has("--quiet")) options.verbosity = Verbosity::quiet;
  options.progress = progress_of(settings().progress, context_.err_terminal, environment);
  if (options.verbosity == Verbosity::quiet) options.progress = Progress::none;
  options.coloring = coloring_of(settings().color, context_.err_terminal, environment);
  options.width = context_.err_terminal.width;
  options.command = arguments_.command->name;
  options.run_id = run_id_;
  options.lock_namespace = settings().lock_namespace;
  options.lock_resource = settings().lock_resource;
  options.now = context_.now;
  return make_log(context_.err, redactor_, std::move(options));
}

LocalMigrations Run::load_migrations() const {
  auto local = context_.load(settings().dirs, settings().placeholders);
  if (!local.problems.empty()) throw Failure(local.problems);
  return local;
}

std::optional<std::string> Run::read_password() {
  const auto& path = settings().password_file;
  if (path.empty()) return std::nullopt;
  const auto file = context_.read_text_file(path);
  if (!file) {
    throw config_failure("password_file_not_found",
                         fmt::format("database.password_file: there is no file {}", printable(path)),
                         "Create it with the password as its first line, or remove the setting.");
  }
  auto password = first_line(file->text);
  redactor_.learn(password);
  if (password.empty()) {
    throw config_failure(
        "password_file_empty",
        fmt::format("database.password_file: the first line of {} is empty", printable(path)),
        "Write the password into its first line.");
  }
  if (file->others_can_read) {
    log_->warning(fmt::format("password file {} can be read by every user of this machine", path));
  }
  return password;
}

std::unique_ptr<Database> Run::connect(Access access) {
  if (settings().url.empty() && !has_libpq_target(context_.environment)) throw no_database();
  auto database = context_.connect({.conninfo = settings().url,
                                    .password = read_password(),
                                    .access = access,
                                    .command = std::string(arguments_.command->name),
                                    .run_id = run_id_,
                                    .tool_version = LOCKSTEP_VERSION,
                                    .role = settings().role,
                                    .search_path = settings().search_path,
                                    .history_schema = settings().history_schema,
                                    .history_table = settings().history_table,
                                    .lock_namespace = settings().lock_namespace,
                                    .lock_resource = settings().lock_resource,
                                    .pooler = settings().pooler,
                                    .wait_for_db = settings().wait_for_db,
                                    .lock_timeout = settings().lock_timeout},
                                   *log_);
  log_->connected(database->facts());
  return database;
}

LockPolicy Run::lock_policy() const {
  return {.on_busy = settings().on_busy, .at_most = settings().lock_wait};
}

std::optional<Version> version_option(const Arguments& arguments, std::string_view option) {
  const auto text = arguments.value(option);
  if (!text) return std::nullopt;
  auto version = Version::parse(*text);
  if (version) return version;
  Error error{.kind = ErrorKind::usage, .code = "invalid_version"};
  error.message = fmt::format("{}: \"{}\" is not a version", option, printable(*text));
  error.hints = {"Versions are numbers with dots or underscores between them, such as 3 or 2.1."};
  throw Failure(std::move(error));
}

}  // namespace lockstep::cli
