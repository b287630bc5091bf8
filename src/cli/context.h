#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/settings.h"
#include "core/database.h"
#include "core/migration.h"
#include "core/reporter.h"
#include "core/session_options.h"

namespace lockstep::cli {

/// What is known of an output stream.
struct Terminal {
  bool is_terminal = false;
  std::size_t width = 80;  ///< columns
};

struct TextFile {
  std::string text = {};
  bool others_can_read = false;  ///< its mode lets group or others read it
};

/// A throwaway server: its URL, and the variables that make libpq and its programs use it.
struct ServerAddress {
  std::string url = {};
  Environment variables = {};
};

/// The outside world, as main hands it in and as tests replace it.
struct Context {
  std::ostream& out;
  std::ostream& err;
  Terminal out_terminal = {};
  Terminal err_terminal = {};
  bool in_is_terminal = false;
  Environment environment = {};
  std::string libpq_version = {};

  /// Every migration file below these directories, read and checked. The placeholders must outlive them.
  std::function<LocalMigrations(const std::vector<std::string>& dirs, const sql::Placeholders&)> load = {};
  /// Opens a session; what it learns on the way (waiting for the server, a pooler) goes to the reporter.
  std::function<std::unique_ptr<Database>(const SessionOptions&, Reporter&)> connect = {};
  /// Absent when there is no such file. Throws Failure when it cannot be read.
  std::function<std::optional<TextFile>(const std::string& path)> read_text_file = {};
  /// Creates the file, and its directory if need be. Throws Failure when it is there already.
  std::function<void(const std::string& path, std::string_view text)> write_new_file = {};
  /// What a person answers, without the line end; absent at the end of the input.
  std::function<std::optional<std::string>()> read_answer = {};
  std::function<std::string()> random_uuid = {};
  std::function<std::chrono::system_clock::time_point()> now = {};
  /// Starts a throwaway server, calls `use` and removes the server whatever happened.
  std::function<void(const std::function<void(const ServerAddress&)>& use)> with_ephemeral_server = {};
  /// Runs a program with these variables set besides the environment; its exit status, 128 + number after a
  /// signal.
  std::function<int(const std::vector<std::string>& argv, const Environment& variables)> run_program = {};
};

}  // namespace lockstep::cli
