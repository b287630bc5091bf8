#pragma once

#include "sql/classify.h"
#include "sql/lexer.h"

namespace lockstep::sql {

/// standard_conforming_strings as the statements of a file change it, transactions included.
class StringSetting {
 public:
  explicit StringSetting(Strings initial) : initial_(initial) {}

  Strings value() const { return value_; }
  void apply(const StatementClass& statement);

 private:
  void change(const ReadingChange& change);

  Strings initial_;
  Strings session_ = initial_;
  Strings value_ = initial_;     ///< SET LOCAL included
  Strings at_begin_ = initial_;  ///< what a ROLLBACK brings back
};

}  // namespace lockstep::sql
