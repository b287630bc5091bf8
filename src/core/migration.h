#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/duration.h"
#include "core/error.h"
#include "core/migration_name.h"
#include "sql/placeholders.h"
#include "sql/source.h"

namespace lockstep {

/// Whether a file runs inside one transaction with its history row.
enum class TransactionMode { on, off };

/// What `-- lockstep:` lines and `<file>.sql.conf` say about one file.
struct Directives {
  std::optional<TransactionMode> transaction = std::nullopt;
  std::optional<Milliseconds> lock_timeout = std::nullopt;
  std::optional<Milliseconds> statement_timeout = std::nullopt;
  std::optional<sql::PlaceholderScope> placeholders = std::nullopt;
};

/// A file that a migration includes with \i or \ir.
struct Include {
  std::string file = {};  ///< as messages name it
  std::string path = {};  ///< as it can be opened
  sql::Place at = {};     ///< of the command
};

/// A migration or callback file that was read, named and checked. Its bytes stay on disk until it is applied.
struct Migration {
  MigrationName name = {};
  std::string script = {};    ///< path relative to its location, with '/'
  std::string path = {};      ///< as it can be opened
  std::string checksum = {};  ///< "sha256:<hex>"
  TransactionMode transaction = TransactionMode::on;
  std::string outside_because =
      {};  ///< why it runs outside a transaction: "VACUUM in line 3 cannot run in one"
  Directives directives = {};
  std::string begin = {};  ///< its own BEGIN, where one pair of BEGIN and COMMIT is around the whole file
  std::size_t statements = 0;
  std::vector<Include> includes =
      {};  ///< in the order in which they are read: sql::Place::file counts them from 1
  const sql::Placeholders* placeholders = nullptr;  ///< what is replaced in it, which outlives it
  std::string placeholder_digest = {};  ///< of a repeatable: changes with the values that are in its text
};

/// Every file of every location. With problems nothing may run.
struct LocalMigrations {
  std::vector<Migration> migrations;
  std::vector<Error> problems;
  std::vector<Migration> callbacks = {};  ///< sorted by event, then description
};

/// The checksum that the history stores: of the file as written, "sha256:<hex>", and behind a plus sign the
/// digest of the placeholders if there is one.
std::string recorded_checksum(const Migration& migration);

/// The version as the file writes it, or empty.
std::string version_text(const Migration& migration);

/// Says in `error` that it lies at `place` of the script `file`, or of one of the files that this includes.
void set_place(Error& error, const sql::Place& place, const std::string& file,
               const std::vector<Include>& includes);

}  // namespace lockstep
