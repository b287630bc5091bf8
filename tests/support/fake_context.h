#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cli/context.h"
#include "support/fake_database.h"

namespace lockstep::test {

/// What a command line came to.
struct CliOutcome {
  int exit_code = -1;
  std::string out = {};
  std::string err = {};
};

/// The world of the command line in memory: migration files by name, text files, one fake server, a clock
/// that counts only what the fake server does.
struct FakeWorld {
  FakeServer server = {};
  LocalMigrations local = {};
  std::map<std::string, cli::TextFile> files = {};  ///< by path
  std::map<std::string, std::string> written = {};  ///< by write_new_file
  cli::Environment environment = {{"LOCKSTEP_URL", "postgresql://deploy:s3cr3t-pw@db.example/shop"}};
  std::string input = {};  ///< what people answer
  bool interactive = false;
  cli::Terminal out_terminal = {};
  cli::Terminal err_terminal = {};
  std::optional<Error> connect_error = std::nullopt;
  std::vector<std::string> connect_notes = {};           ///< told to the reporter while connecting
  std::optional<SessionOptions> session = std::nullopt;  ///< what connect was called with
  std::vector<std::string> loaded_dirs = {};
  sql::Placeholders loaded_placeholders = {};
  std::vector<std::string> program = {};  ///< what run_program was called with
  cli::Environment program_variables = {};
  int program_status = 0;
  int ephemeral_servers = 0;   ///< started
  bool closed_output = false;  ///< standard output cannot be written to

  void add_file(std::string_view script) { local.migrations.push_back(fake_migration(script)); }

  CliOutcome run(const std::vector<std::string>& arguments);
};

}  // namespace lockstep::test
