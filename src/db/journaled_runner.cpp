#include "db/journaled_runner.h"

#include <fmt/format.h>

#include <utility>

#include "db/checked_files.h"
#include "db/hashed_script.h"
#include "db/in_doubt.h"
#include "db/index_leftovers.h"
#include "db/script_failure.h"
#include "db/script_runner.h"

namespace lockstep::db {
namespace {

using Kind = sql::StatementKind;

/// The server's word for a statement that it does not take in a transaction, for a reason that our reading of
/// it did not tell.
bool wants_to_be_alone(const ServerError& error) {
  return error.sqlstate == "25001" || error.sqlstate == "2D000";
}

bool builds_index(Kind kind) {
  return kind == Kind::create_index_concurrently || kind == Kind::reindex_concurrently;
}

Failure with_hint(const Failure& failure, std::string_view hint) {
  auto error = failure.error();
  error.hints.emplace(error.hints.begin(), hint);
  return Failure(std::move(error));
}

constexpr std::string_view partitioned_index_recipe =
    "On a partitioned table: create the index ON ONLY the table, create one CONCURRENTLY on each partition, "
    "and attach each with ALTER INDEX … ATTACH PARTITION; with the last one the first becomes valid.";

}  // namespace

bool opens_transaction(const sql::Item& item) {
  return item.statement.controls_transaction() && item.statement.not_in_transaction_since == 0;
}

bool runs_together(const sql::Item& item) {
  return recovery_of(item.statement, item.text) == sql::Recovery::together;
}

bool is_kept_setting(const sql::Item& item) {
  return item.statement.kind == Kind::set && !item.statement.reading.local;
}

JournaledRunner::JournaledRunner(Session& session, const OpenScript& open, const Migration& migration,
                                 Journal journal)
    : session_(session),
      open_(open),
      migration_(migration),
      journal_(std::move(journal)),
      sender_(session, open, migration) {}

void JournaledRunner::run(Progress before, const std::string& begin) {
  progress_ = std::move(before);
  begin_ = begin;
  // Nothing can be taken back here, so the file is compared before its first statement runs, and each piece
  // again before it does.
  const CheckedFiles files(open_, migration_, [this] { return changed_while_running(migration_); });
  if (files.checksum() != migration_.checksum) throw file_changed(migration_);
  const auto open = files.opener();
  HashedScript script(open, migration_, reader_options(session_.raw()));
  auto& reader = script.reader();
  reader_ = &reader;
  const auto start = progress_.statements;
  ScriptMessage settings;
  Progress read;
  while (const auto item = reader.next()) {
    if (is_echo(*item) && read.statements >= start) sender_.echo(*item);
    if (item->kind != sql::Item::Kind::statement) continue;
    read = progress_with(read, item->text);
    if (read.statements < start) {
      skip(*item, settings);
    } else if (read.statements == start) {
      if (read.digest != progress_.digest) throw done_part_changed(migration_, start);
      skip(*item, settings);
      if (!settings.empty()) sender_.send(settings, reader);
    } else {
      run_next(*item, read);
    }
  }
  refuse_unread();
  if (read.statements < start) throw done_part_changed(migration_, start);
  if (!progress_.intent.empty()) throw statement_in_doubt(migration_, {}, start + 1, Doubt::taken_out, open_);
  if (PQtransactionStatus(session_.raw()) != PQTRANS_IDLE) throw transaction_left_open(migration_);
}

/// What is done is not run again, but its settings went with its session.
void JournaledRunner::skip(const sql::Item& item, ScriptMessage& settings) {
  if (is_kept_setting(item)) settings.add(item);
}

void JournaledRunner::run_next(const sql::Item& item, const Progress& next) {
  throw_if_interrupted();
  may_change_defaults_ = may_change_defaults_ || db::may_change_defaults(item);
  if (!progress_.intent.empty() && was_done(item, next)) return done(next);
  if (PQtransactionStatus(session_.raw()) != PQTRANS_IDLE || opens_transaction(item))
    return run_within(item, next);
  if (runs_together(item) && run_together(item, next)) return;
  run_alone(item, next);
}

/// Within a transaction of the file's own nothing is done yet: a failure takes it all back.
void JournaledRunner::run_within(const sql::Item& item, const Progress& next) {
  const bool ends = item.statement.kind == Kind::commit && !item.statement.chains;
  if (ends && PQtransactionStatus(session_.raw()) == PQTRANS_INTRANS) return commit(item.place, next);
  ScriptMessage message;
  message.add(item);
  sender_.send(message, *reader_);
  if (PQtransactionStatus(session_.raw()) == PQTRANS_IDLE) done(next);
}

/// False if the server wants the statement outside of a transaction; then nothing has happened.
bool JournaledRunner::run_together(const sql::Item& item, const Progress& next) {
  const auto place = item.place;
  ScriptMessage message;
  message.add_own(begin_);
  message.add(item);
  if (const auto error = sender_.try_send(message, *reader_)) {
    if (!wants_to_be_alone(*error)) throw sender_.failure(message, *error, *reader_);
    session_.roll_back();
    return false;
  }
  refuse_unread();
  commit(place, next);
  return true;
}

void JournaledRunner::commit(const sql::Place& place, const Progress& next) {
  if (const auto error = journal_.commit(next))
    throw statement_failed(session_, migration_, *error, place, {}, open_);
  progress_ = next;
}

void JournaledRunner::run_alone(const sql::Item& item, const Progress& next) {
  const auto target = sql::target_of(item.text);
  // An earlier try may have been cancelled half-way: the statement itself would be refused now.
  const bool half_done =
      target.kind == Kind::detach_partition_concurrently && fate_of(session_, target) == Fate::done;
  if (half_done) return done(next);
  if (!builds_index(target.kind)) {
    send_alone(item, next);
    return done(next);
  }
  IndexLeftovers leftovers(session_, target);
  leftovers.drop_before();
  try {
    send_alone(item, next);
  } catch (const Failure&) {
    leftovers.drop_after_failure();
    throw;
  }
  leftovers.require_valid();
  done(next);
}

void JournaledRunner::send_alone(const sql::Item& item, const Progress& next) {
  progress_.intent = next.digest;
  journal_.note(progress_);
  if (const auto interrupt = interruption()) {
    progress_.intent.clear();
    throw *interrupt;
  }
  ScriptMessage message;
  message.add(item);
  const auto error = sender_.try_send(message, *reader_);
  if (!error) return;
  if (!session_.lost()) progress_.intent.clear();
  auto failure = sender_.failure(message, *error, *reader_);
  const bool partitioned =
      item.statement.kind == Kind::create_index_concurrently && error->sqlstate == "0A000";
  throw partitioned ? with_hint(failure, partitioned_index_recipe) : failure;
}

bool JournaledRunner::was_done(const sql::Item& item, const Progress& next) {
  if (next.digest != progress_.intent)
    throw statement_in_doubt(migration_, item.place, next.statements, Doubt::changed, open_);
  auto fate = Fate::unknown;
  const auto recovery = recovery_of(item.statement, item.text);
  if (recovery == sql::Recovery::again) fate = Fate::not_done;
  if (recovery == sql::Recovery::look_up) fate = fate_of(session_, sql::target_of(item.text));
  if (fate == Fate::unknown)
    throw statement_in_doubt(migration_, item.place, next.statements, Doubt::cannot_tell, open_);
  const bool done = fate == Fate::done;
  session_.tell(
      {.severity = "NOTICE",
       .message = fmt::format("statement {} was running when an earlier run ended: {}", next.statements,
                              done ? "it was completed, and is not run again" : "it is run again")});
  return done;
}

void JournaledRunner::done(const Progress& next) {
  progress_ = next;
  journal_.note(progress_);
}

void JournaledRunner::refuse_unread() const {
  if (reader_->problem()) throw unreadable(migration_, *reader_->problem());
}

}  // namespace lockstep::db
