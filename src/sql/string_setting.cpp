#include "sql/string_setting.h"

namespace lockstep::sql {

void StringSetting::apply(const StatementClass& statement) {
  switch (statement.kind) {
    case StatementKind::begin:
      at_begin_ = session_;
      return;
    case StatementKind::rollback:
      session_ = at_begin_;
      [[fallthrough]];
    case StatementKind::commit:
      value_ = at_begin_ = session_;
      return;
    default:
      return change(statement.reading);
  }
}

void StringSetting::change(const ReadingChange& change) {
  const bool concerned =
      change.setting == ReadingSetting::standard_conforming_strings || change.setting == ReadingSetting::all;
  if (!concerned || change.to == ReadingChange::To::other) return;
  if (change.to == ReadingChange::To::initial) value_ = initial_;
  if (change.to == ReadingChange::To::on) value_ = Strings::standard;
  if (change.to == ReadingChange::To::off) value_ = Strings::backslash_escapes;
  if (!change.local) session_ = value_;
}

}  // namespace lockstep::sql
