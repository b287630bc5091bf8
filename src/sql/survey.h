#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sql/classify.h"
#include "sql/include.h"
#include "sql/source.h"
#include "sql/statement_reader.h"

namespace lockstep::sql {

/// A statement that matters for judging a file.
struct Mark {
  std::size_t number;  ///< which statement of the file, from 1
  Place place;
  std::string name;  ///< "CREATE INDEX CONCURRENTLY"
  StatementClass statement;
};

/// A psql command or a directive of ours.
struct Remark {
  Place place;
  std::string name;      ///< of a psql command, without the backslash
  std::string argument;  ///< of the command; of a directive what follows the colon
  bool inside_statement = false;
  std::string text = {};  ///< of a directive: the whole comment
};

/// All that one look at a file tells.
struct Survey {
  /// Why it cannot be run as it is, in the order of the file: what cannot be read, COPY data, stray `\.`,
  /// unpaired \restrict, \i and \echo with wrong arguments. What comes behind an unreadable place is not
  /// known.
  std::vector<Problem> problems;
  std::size_t statements = 0;
  std::vector<Mark>
      non_transactional;  ///< refused in a transaction block by some server: see refuses_transaction
  std::vector<Mark> transaction_control;  ///< the pair around the file included
  std::vector<Mark> lock_releases;        ///< DISCARD ALL
  std::vector<Mark> reading_changes;      ///< what is behind them may be read in another way
  std::vector<Mark> add_values;           ///< ALTER TYPE … ADD VALUE
  /// The first statement that does work and can do it in a transaction: not SET, not transaction control.
  std::optional<Mark> first_ordinary;
  /// One BEGIN … COMMIT pair encloses all statements; only savepoints may be inside.
  bool wrapped = false;
  std::string begin_text;               ///< the BEGIN of that pair: it may name an isolation level
  std::vector<Remark> meta_commands;    ///< all but those that are checked here
  std::vector<Remark> directives;       ///< before the first statement
  std::vector<Remark> late_directives;  ///< behind it
  PlaceholderUses placeholders = {};    ///< in the order of the files
};

/// Reads a file to its end, even behind a problem: to get at its bytes as well (for a checksum), let `read`
/// keep an eye on them. `options.uses` is not for the caller. The files that it includes are part of it;
/// without `open` they are left out.
Survey survey(const ReadBytes& read, const ReaderOptions& options = {}, const OpenIncluded& open = {});

}  // namespace lockstep::sql
