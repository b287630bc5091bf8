#pragma once

#include <string>
#include <string_view>

#include "core/history_format.h"
#include "db/session.h"

namespace lockstep::db {

/// The unique index of a history table that has the format of this release. Its name says so, since a name is
/// the one thing in the catalog that is looked up at no cost
/// (docs/adr/0006-a-format-number-for-the-history.md). Of a long table name it has the beginning and a hash.
std::string format_index(std::string_view table);

/// The format of a table without that index.
int read_format(Session& session, const SessionFacts& facts);

/// The refusal of a table of a newer format.
Failure newer_history(Session& session, const SessionFacts& facts, int format, std::string_view tool_version);

/// Brings the history table from an older format to that of this release, or leaves it as it is. Throws
/// Failure.
void upgrade_history(Session& session, const SessionFacts& facts, int from, Milliseconds lock_timeout);

}  // namespace lockstep::db
