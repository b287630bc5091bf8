#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql/token.h"

namespace lockstep::sql {

/// Statements that a migrator must know; all others are `other`.
enum class StatementKind : std::uint8_t {
  other,
  begin,
  commit,
  rollback,
  savepoint,
  release,
  rollback_to,
  prepare_transaction,
  commit_prepared,
  rollback_prepared,
  set_transaction,
  create_index_concurrently,
  drop_index_concurrently,
  reindex_concurrently,
  reindex_many,  ///< REINDEX SCHEMA, DATABASE or SYSTEM
  vacuum,
  cluster_all,
  create_database,
  drop_database,
  alter_database_tablespace,
  create_tablespace,
  drop_tablespace,
  alter_system,
  detach_partition_concurrently,
  create_subscription,
  drop_subscription,
  alter_subscription,
  alter_type_add_value,
  discard_all,
  set,  ///< SET, RESET and SELECT set_config(…): the session's settings
  copy_from_stdin,
  copy_to_stdout,
  call,
  do_block,
};

enum class CopyFormat : std::uint8_t { text, csv, binary };

/// The settings that change how text behind them is read.
enum class ReadingSetting : std::uint8_t {
  none,
  standard_conforming_strings,
  backslash_quote,
  client_encoding,
  all
};

struct ReadingChange {
  enum class To : std::uint8_t { on, off, initial, other };

  ReadingSetting setting = ReadingSetting::none;
  To to = To::other;
  bool local = false;  ///< until the transaction ends
};

/// What the first tokens of a statement tell.
struct StatementClass {
  static constexpr int every_version = 1;

  StatementKind kind = StatementKind::other;
  std::string_view name = {};  ///< "CREATE INDEX CONCURRENTLY"; empty for `other`
  /// The first major version of PostgreSQL that refuses the statement in a transaction block; 0: none does.
  /// Statements whose case only the catalog can tell (REINDEX and CLUSTER of partitioned tables, DROP
  /// SUBSCRIPTION without a slot) are judged by what is usual.
  int not_in_transaction_since = 0;
  bool chains = false;  ///< COMMIT or ROLLBACK … AND CHAIN
  CopyFormat copy_format = CopyFormat::text;
  ReadingChange reading = {};

  /// Ends, starts or splits a transaction.
  bool controls_transaction() const;
  /// Releases the session's advisory locks for certain.
  bool drops_session_locks() const { return kind == StatementKind::discard_all; }
};

/// The statement cannot run in a transaction block on a server of this major version; of an unknown one: on
/// any.
bool refuses_transaction(const StatementClass& statement, std::optional<int> server_major);

/// Judges the first tokens of a statement, at least `useful_head(head)` of them where it has so many.
StatementClass classify(std::span<const Token> head);

/// With so many tokens `useful_head` has its final answer.
inline constexpr std::size_t shortest_head = 4;
/// How many tokens classify can make use of, told from the first ones.
std::size_t useful_head(std::span<const Token> head);

/// The command in words for messages: "CREATE INDEX CONCURRENTLY", "ALTER TABLE", "INSERT".
std::string command_name(const StatementClass& statement, std::string_view text);

}  // namespace lockstep::sql
