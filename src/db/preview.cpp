#include "db/preview.h"

#include <optional>
#include <span>
#include <utility>

#include "db/hashed_script.h"
#include "db/journaled_runner.h"
#include "db/progress.h"
#include "db/recorder.h"
#include "db/with_constants.h"

namespace lockstep::db {
namespace {

using Kind = sql::StatementKind;

/// Writes what is sent for one step.
class Preview {
 public:
  Preview(const Step& step, const SessionState& state, const HistoryTable& history,
          std::int64_t expected_rank, const OpenScript& open, const TextSink& out)
      : step_(step),
        state_(state),
        history_(history),
        expected_rank_(expected_rank),
        open_(open),
        out_(out) {}

  void write_whole() {
    const auto records =
        step_.resumes ? std::vector{progress(row_state::applied, {.statements = step_.migration.statements})}
                      : history_.record_queries(step_, expected_rank_);
    write_transaction(step_.migration, records, [&] {
      write_callbacks(step_.before);
      begin_file(step_.migration);
      if (!step_.before.empty()) write_file_name();
      write_file();
      write_callbacks(step_.after);
    });
  }

  /// The step is a callback with a transaction of its own, at the end of which this holds.
  void write_callback(const Query& condition) {
    write_transaction(step_.migration, {condition}, [&] { write_callbacks({&step_.migration, 1}); });
  }

  void write_one_by_one() {
    const auto before = progress_before(step_);
    for (const auto& own : state_.timeout_statements(step_.migration)) write(own);
    write_with(step_.before,
               step_.resumes ? progress(row_state::running, before)
                             : history_.insert_query(step_.migration, row_state::running, expected_rank_));
    begin_file(step_.migration);
    if (before.statements > 0) out_("-- what is done already is not run again, but for its settings\n");
    Progress read;
    while (const auto item = next_statement()) {
      read = progress_with(read, item->text);
      if (read.statements > before.statements) {
        write_journaled(*item, read);
      } else if (is_kept_setting(*item)) {
        write_statement(*item);
      }
    }
    write_with(step_.after, progress(row_state::applied, read));
  }

 private:
  /// What `write_body` writes, and the records.
  template <typename WriteBody>
  void write_transaction(const Migration& leader, const std::vector<Query>& records,
                         const WriteBody& write_body) {
    write(state_.begin_statement(leader));
    for (const auto& own : state_.timeout_statements(leader)) write(own);
    write_body();
    for (const auto& own : closing_statements(state_, records)) write(own);
  }

  /// The row of a file without a transaction, in one with its callbacks.
  void write_with(std::span<const Migration> callbacks, const Query& row) {
    if (callbacks.empty()) return write(with_constants(row));
    write_transaction(callbacks.front(), {row}, [&] { write_callbacks(callbacks); });
  }

  void write_callbacks(std::span<const Migration> callbacks) {
    for (const auto& callback : callbacks) {
      begin_file(callback);
      write_file_name();
      write_file();
    }
  }

  void begin_file(const Migration& migration) {
    script_.emplace(open_, migration);
    migration_ = &migration;
    file_ = 0;
  }

  /// Within a transaction: one pair of BEGIN and COMMIT may be around the file.
  void write_file() {
    while (const auto item = next_statement()) {
      const bool ours = item->statement.kind == Kind::begin || item->statement.kind == Kind::commit;
      if (!ours) write_statement(*item);
    }
  }

  void write(std::string_view sql) {
    out_(sql);
    out_(";\n");
  }

  void write_journaled(const sql::Item& item, const Progress& next) {
    const auto note = progress(row_state::running, next);
    const auto kind = item.statement.kind;
    if (kind == Kind::begin) inside_ = true;
    if (kind == Kind::commit || kind == Kind::rollback) inside_ = false;
    const bool commits = kind == Kind::commit && !item.statement.chains;
    if (commits) before_ = next;
    if (commits) return write_closing(note);
    if (inside_ || opens_transaction(item)) return write_statement(item);
    const bool together = runs_together(item);
    auto announced = before_;
    announced.intent = next.digest;
    write(together ? state_.begin_statement() : with_constants(progress(row_state::running, announced)));
    write_statement(item);
    before_ = next;
    if (together) return write_closing(note);
    write(with_constants(note));
  }

  void write_closing(const Query& note) {
    for (const auto& own : closing_statements(state_, {note})) write(own);
  }

  Query progress(std::string_view state, const Progress& now) const {
    const auto rank = step_.resumes ? step_.resumes->rank : expected_rank_ + 1;
    return history_.progress_query(rank, step_.migration, state, now);
  }

  void write_statement(const sql::Item& item) {
    write(item.text);
    if (item.statement.kind != Kind::copy_from_stdin) return;
    while (true) {
      const auto data = script_->reader().next_copy_data();
      if (data.empty()) break;
      out_(data);
    }
    out_("\\.\n");
  }

  /// What stands between is written as comments: what is printed, and the file's name where that changes.
  std::optional<sql::Item> next_statement() {
    while (auto item = script_->reader().next()) {
      const bool is_statement = item->kind == sql::Item::Kind::statement;
      if (!is_statement && !is_echo(*item)) continue;
      if (std::exchange(file_, item->place.file) != item->place.file) write_file_name();
      if (is_statement) return item;
      out_("-- ");
      out_(item->text);
      out_("\n");
    }
    return std::nullopt;
  }

  void write_file_name() {
    out_("-- " + (file_ == 0 ? migration_->script : migration_->includes[file_ - 1].file) + "\n");
  }

  const Step& step_;
  const SessionState& state_;
  const HistoryTable& history_;
  const std::int64_t expected_rank_;
  const OpenScript& open_;
  const TextSink& out_;
  std::optional<HashedScript> script_;    ///< the one that was begun last
  const Migration* migration_ = nullptr;  ///< whose it is
  std::size_t file_ = 0;
  Progress before_ = progress_before(step_);
  bool inside_ = false;  ///< a transaction of the file's own
};

}  // namespace

void write_preview(const Step& step, const SessionState& state, const HistoryTable& history,
                   std::int64_t expected_rank, const OpenScript& open, const TextSink& out) {
  Preview preview(step, state, history, expected_rank, open, out);
  if (step.migration.transaction == TransactionMode::on) return preview.write_whole();
  preview.write_one_by_one();
}

void write_callback_preview(const Migration& callback, const SessionState& state, const HistoryTable& history,
                            const AdvisoryLock& lock, const OpenScript& open, const TextSink& out) {
  const Step step{.migration = callback};
  Preview(step, state, history, 0, open, out).write_callback(lock.required_query());
}

}  // namespace lockstep::db
