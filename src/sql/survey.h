#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sql/classify.h"
#include "sql/firsts.h"
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

/// All that one look at a file tells, with the first ones of what may be there very often.
struct Survey {
  /// Why it cannot be run as it is, in the order of the file: what cannot be read, COPY data, stray `\.`,
  /// unpaired \restrict, \i and \echo with wrong arguments. What comes behind an unreadable place is not
  /// known.
  std::vector<Problem> problems;
  std::size_t more_problems = 0;  ///< which are not in the list
  std::size_t statements = 0;
  Firsts<Mark> non_transactional;  ///< refused in a transaction block by some server: see refuses_transaction
  /// What begins, ends or prepares a transaction; the pair around the file included.
  Firsts<Mark> transaction_control;
  Firsts<Mark> lock_releases;  ///< DISCARD ALL
  /// The first statement that does work and can do it in a transaction: not SET, not transaction control.
  std::optional<Mark> first_ordinary;
  /// One BEGIN … COMMIT pair encloses all statements; only savepoints may be inside.
  bool wrapped = false;
  std::string begin_text;             ///< the BEGIN of that pair: it may name an isolation level
  Firsts<Remark> meta_commands;       ///< all but those that are checked here
  Firsts<Remark> directives;          ///< before the first statement
  Firsts<Remark> late_directives;     ///< behind it
  PlaceholderUses placeholders = {};  ///< in the order of the files
};

/// Reads a file to its end, even behind a problem: to get at its bytes as well (for a checksum), let `read`
/// keep an eye on them. `options.uses` is not for the caller. The files that it includes are part of it;
/// without `open` they are left out.
Survey survey(const ReadBytes& read, const ReaderOptions& options = {}, const OpenIncluded& open = {});

}  // namespace lockstep::sql
