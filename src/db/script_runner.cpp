#include "db/script_runner.h"

#include <algorithm>

#include "core/script_rules.h"
#include "db/hashed_script.h"
#include "db/script_failure.h"

namespace lockstep::db {
namespace {

/// A message is sent when it is this long: more saves no round trips that matter, and the memory stays small.
constexpr std::size_t message_size = 64 * 1024;

bool is_statement(const sql::Item& item) {
  return item.kind == sql::Item::Kind::statement;
}

bool is(const sql::Item& item, sql::StatementKind kind) {
  return item.statement.kind == kind;
}

bool ends_message(const sql::Item& item) {
  // The server reads a whole message with the settings of its beginning.
  return is(item, sql::StatementKind::copy_from_stdin) ||
         item.statement.reading.setting != sql::ReadingSetting::none;
}

bool begins(std::string_view text, std::string_view words) {
  return text.size() > words.size() &&
         std::equal(words.begin(), words.end(), text.begin(), [](char word, char c) {
           return word == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

}  // namespace

bool may_change_defaults(const sql::Item& item) {
  if (is(item, sql::StatementKind::do_block) || is(item, sql::StatementKind::call)) return true;
  return begins(item.text, "alter ") && !begins(item.text, "alter table") && !begins(item.text, "alter type");
}

Scripts scripts_of(std::span<const Migration> callbacks) {
  Scripts scripts;
  for (const auto& callback : callbacks) scripts.push_back(&callback);
  return scripts;
}

Scripts scripts_of(const Step& step) {
  auto scripts = scripts_of(step.before);
  scripts.push_back(&step.migration);
  for (const auto& callback : step.after) scripts.push_back(&callback);
  return scripts;
}

ScriptRunner::ScriptRunner(Session& session, const OpenScript& open, const Migration& migration)
    : session_(session), open_(open), migration_(migration), sender_(session, open, migration) {}

std::optional<ClosingError> ScriptRunner::run(const Frame& frame, const Scripts& scripts) {
  ScriptMessage message;
  if (!frame.before.empty()) {
    // A transaction of their own: BEGIN would make them part of the file's, and the isolation level could not
    // be chosen any more.
    message.add_own("begin");
    for (const auto& own : frame.before) message.add_own(own);
    message.add_own("commit");
  }
  message.add_own(frame.begin);
  for (const auto& own : frame.after_begin) message.add_own(own);
  for (const auto* script : scripts) run_script(*script, message);
  return close(message, frame.closing);
}

void ScriptRunner::run_script(const Migration& script, ScriptMessage& message) {
  const auto* callback = &script == &migration_ ? nullptr : &script;
  script_.emplace(open_, script, reader_options(session_.raw()));
  while (const auto item = next_statement(message)) {
    // One pair of these may be around the file.
    if (is(*item, sql::StatementKind::begin) || is(*item, sql::StatementKind::commit)) continue;
    // No file that was checked has one, and what this one does must be rolled back when the checksum tells.
    if (splits_transaction(item->statement.kind)) throw file_changed(script);
    message.add(*item, callback);
    if (callback == nullptr) ++statements_;
    may_change_defaults_ = may_change_defaults_ || db::may_change_defaults(*item);
    if (!ends_message(*item) && message.size() < message_size) continue;
    script_->reader().forget_item();  // the message has it
    send(message);
  }
  try {
    refuse_other(script);
  } catch (const Failure& failure) {
    if (callback == nullptr) throw;
    throw within_migration(failure, script, migration_);
  }
}

/// The file is not the one that was checked.
void ScriptRunner::refuse_other(const Migration& script) {
  if (const auto& problem = script_->reader().problem()) throw unreadable(script, *problem);
  if (script_->checksum() != script.checksum) throw file_changed(script);
}

std::optional<ClosingError> ScriptRunner::close(ScriptMessage& message,
                                                const std::vector<std::string>& closing) {
  // The server reads a whole message in the encoding of its beginning; ours is UTF-8.
  if (!session_.speaks_utf8()) {
    message.add_own("set local client_encoding = 'UTF8'");
    send(message);
  }
  auto& reader = script_->reader();
  const auto of_the_file = message.statements();
  for (const auto& own : closing) message.add_own(own);
  throw_if_interrupted();
  const auto error = sender_.try_send(message, reader);
  const auto completed = sender_.completed();
  // A session that ends behind COMMIT's answer takes nothing back.
  if (!error || completed == message.statements()) return std::nullopt;
  // The server has got the whole message, and what it did with it after the last answer is not known.
  const bool in_doubt = session_.lost_silently(*error);
  if (completed < of_the_file && !in_doubt) throw sender_.failure(message, *error, reader);
  if (in_doubt || completed + 1 >= message.statements())
    return ClosingError{ClosingError::Part::commit, *error};
  const bool deferred = completed == of_the_file;
  return ClosingError{deferred ? ClosingError::Part::deferred : ClosingError::Part::record, *error};
}

/// What is to be printed before the statement is printed when the statements before that have run: it may
/// announce one that takes long.
std::optional<sql::Item> ScriptRunner::next_statement(ScriptMessage& message) {
  auto& reader = script_->reader();
  auto item = reader.next();
  for (; item && !is_statement(*item); item = reader.next()) {
    if (!is_echo(*item)) continue;
    if (!message.only_ours()) send(message);
    sender_.echo(*item);
  }
  return item;
}

void ScriptRunner::send(ScriptMessage& message) {
  sender_.send(message, script_->reader());
  message = {};
}

}  // namespace lockstep::db
