#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/log.h"
#include "cli/output.h"
#include "cli/redact.h"
#include "cli/result.h"
#include "cli/style.h"
#include "core/lock.h"

namespace lockstep::cli {

/// Everything that a command needs, settled.
class Run {
 public:
  /// `context` must outlive the run. `words` are the command line, where secrets may stand.
  Run(const Context& context, Arguments arguments, const std::vector<std::string>& words);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Reads lockstep.toml and settles all settings. Throws Failure with every problem.
  void settle();
  /// From now on the database is this throwaway server.
  void use_server(const ServerAddress& server);

  const Context& context() const { return context_; }
  const Arguments& arguments() const { return arguments_; }
  const LoadedSettings& loaded() const { return loaded_; }
  bool is_settled() const { return !loaded_.shown.empty(); }
  const Settings& settings() const { return loaded_.settings; }
  const Redactor& redactor() const { return redactor_; }
  Output& out() { return out_; }
  Log& log() { return *log_; }
  Coloring coloring() const;

  /// All migration files. Throws Failure with every problem of every file.
  LocalMigrations load_migrations() const;
  /// Throws Failure when no database is configured, or the session cannot be had.
  std::unique_ptr<Database> connect(Access access);
  LockPolicy lock_policy() const;

 private:
  std::optional<ConfigFile> read_config() const;
  std::optional<Overlay> overlay() const;
  std::optional<std::string> read_password();
  void learn_secrets(const std::vector<std::string>& words);
  std::unique_ptr<Log> make_run_log() const;

  const Context& context_;
  const Arguments arguments_;
  const std::string run_id_;
  LoadedSettings loaded_;
  Redactor redactor_;
  Output out_;
  std::unique_ptr<Log> log_;
};

/// The value of an option as a version; absent without the option. Throws Failure (usage) when it is none.
std::optional<Version> version_option(const Arguments& arguments, std::string_view option);

}  // namespace lockstep::cli
