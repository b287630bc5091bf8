#pragma once

#include <string>
#include <string_view>

#include "sql/classify.h"

namespace lockstep::sql {

/// How a statement outside a transaction block can be taken up again when nobody knows whether it was done,
/// because the connection was lost while it ran.
enum class Recovery {
  together,  ///< it can commit together with its note, so the question does not arise
  again,     ///< doing it twice does no harm
  look_up,   ///< the catalog tells: look for its target
  ask,       ///< only a person can tell
};

/// `text` is the whole statement: the body of a DO decides whether it may commit by itself.
Recovery recovery_of(const StatementClass& statement, std::string_view text);

/// The object that a statement makes, changes or removes. Names are as written, with their qualifiers and
/// quotes and without blanks, as to_regclass and parse_ident take them; empty when there is none or it can't
/// be told.
struct Target {
  StatementKind kind = StatementKind::other;
  std::string name = {};   ///< the index, partition, database, …; of COMMIT PREPARED its constant
  std::string table = {};  ///< what the index is on, or the partitioned table
};

/// The target of one whole statement.
Target target_of(std::string_view statement);

}  // namespace lockstep::sql
