#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/log.h"
#include "core/activity.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view clear_line = "\r\x1b[2K";

Color severity_color(const Notice& notice) {
  return notice.severity == "WARNING" ? Color::yellow : Color::dim;
}

/// A long statement of the lock's holder, on one line.
std::string shortened(std::string_view text, std::size_t width) {
  std::string line;
  std::size_t used = 0;
  while (!text.empty()) {
    std::size_t size = 1;
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) ++size;
    const auto character = text.substr(0, size);
    used += display_width(character);
    if (used + 1 > width) return line + "…";
    line += character;
    text.remove_prefix(size);
  }
  return line;
}

/// A statement of several lines, with one blank for each stretch of them.
std::string one_blank_each(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : printable(text)) line += c == '\n' ? std::string("; ") : std::string(1, c);
  return line;
}

class TextLog : public Log {
 public:
  TextLog(std::ostream& stream, const Redactor& redactor, LogOptions options)
      : stream_(stream), redactor_(redactor), options_(std::move(options)) {}
  ~TextLog() override { settle(); }
  TextLog(const TextLog&) = delete;
  TextLog& operator=(const TextLog&) = delete;

  void connected(const SessionFacts& facts) override {
    if (options_.verbosity != Verbosity::verbose) return;
    line(fmt::format("connected to database {} as {}, server {}.{}, backend {}; run {}",
                     printable_line(facts.database), printable_line(facts.user), facts.server_version / 10000,
                     facts.server_version % 10000, facts.backend_pid, options_.run_id));
    line(fmt::format("history {}.{}, lock ({}, {})", printable_line(facts.schema),
                     printable_line(facts.table), facts.lock_namespace, facts.lock_resource));
  }

  void note(std::string_view message) override {
    if (options_.verbosity != Verbosity::quiet) line(printable(message));
  }

  void warning(std::string_view message) override {
    line(paint("warning:", Color::yellow, options_.coloring) + " " + printable(message));
  }

  void waiting(const LockHolder& holder, Milliseconds waited) override {
    if (options_.verbosity == Verbosity::quiet) return;
    auto shown = holder;
    shown.query = shortened(one_blank_each(holder.query), 120);
    const auto since = waited.count() == 0 ? std::string{} : fmt::format(" for {}", human(waited));
    line(fmt::format("waiting{} for the migration lock, held by {}", since,
                     on_one_line(describe_holder(shown))));
  }

  void planned(const Plan& plan) override {
    total_ = plan.steps.size();
    if (options_.verbosity == Verbosity::verbose)
      line(fmt::format("{} to {}", counted(total_, "migration"), verb(plan)));
  }

  void started(const Step& step) override {
    const bool callback = step.migration.name.kind == MigrationKind::callback;
    if (!callback) ++number_;
    under_header_ = false;
    const auto& script = step.migration.script;
    if (step.resumes && options_.verbosity != Verbosity::quiet) {
      header(step);
      line(fmt::format("  goes on after {} of an earlier run",
                       counted(static_cast<std::size_t>(step.resumes->statements_done), "statement")));
    }
    if (options_.progress == Progress::plain && !under_header_) header(step);
    if (options_.progress != Progress::live) return;
    auto text = fmt::format("{} …", printable(script));
    if (!callback) text = fmt::format("[{}/{}] {}", number_, std::max(number_, total_), text);
    write(shortened(redactor_(text), options_.width));
    live_ = true;
  }

  void noticed(const Step& step, const Notice& notice) override {
    if (options_.verbosity == Verbosity::quiet && notice.severity != "WARNING") return;
    if (!under_header_) header(step);
    const auto label = paint(notice.severity + ":", severity_color(notice), options_.coloring);
    line(fmt::format("  {} {}", label, indent_continuation(printable(notice.message), 4)));
    if (!notice.detail.empty()) {
      line(fmt::format("    detail: {}", indent_continuation(printable(notice.detail), 6)));
    }
    if (!notice.hint.empty()) {
      line(fmt::format("    hint: {}", indent_continuation(printable(notice.hint), 6)));
    }
  }

  void running(const Step& step, const Activity& activity) override {
    if (options_.verbosity == Verbosity::quiet) return;
    if (!under_header_) header(step);
    auto shown = activity;
    for (auto& blocker : shown.blockers) blocker.query = shortened(one_blank_each(blocker.query), 120);
    const auto what = describe(shown);
    line(fmt::format("  running for {}{}{}", human(activity.running), what.empty() ? "" : ", ",
                     on_one_line(what)));
  }

  void retrying(const Step& step, const Error& error, Milliseconds pause) override {
    if (!under_header_) header(step);
    const auto detail = error.detail.empty() ? std::string{} : " (" + on_one_line(error.detail) + ")";
    line(fmt::format("  {} rolled back, trying again in {}: {}{}",
                     paint("warning:", Color::yellow, options_.coloring), human(pause),
                     printable(error.message), detail));
  }

  void finished(const Step& step, const AppliedStep& applied) override {
    if (options_.verbosity == Verbosity::quiet) return settle();
    line(fmt::format("{} … {} in {} ({})", printable(step.migration.script),
                     paint("done", Color::green, options_.coloring), human(applied.duration),
                     counted(static_cast<std::size_t>(applied.statements), "statement")));
  }

  void failed(const Error& error) override {
    auto text = printable(render(redactor_(error)));
    constexpr std::string_view label = "error:";
    if (text.starts_with(label)) {
      text = paint(label, Color::red, options_.coloring) + text.substr(label.size());
    }
    settle();
    write(text);
  }

  void settle() override {
    if (!live_) return;
    live_ = false;
    write(clear_line);
  }

 private:
  /// The migration under which its notices stand.
  void header(const Step& step) {
    line(fmt::format("{} …", printable(step.migration.script)));
    under_header_ = true;
  }

  void line(std::string_view text) {
    settle();
    write(redactor_(text) + "\n");
  }

  void write(std::string_view text) { stream_ << text << std::flush; }

  std::ostream& stream_;
  const Redactor& redactor_;
  const LogOptions options_;
  std::size_t number_ = 0;
  std::size_t total_ = 0;
  bool live_ = false;          ///< a progress line stands on the terminal
  bool under_header_ = false;  ///< the running migration's name stands above
};

}  // namespace

std::unique_ptr<Log> make_text_log(std::ostream& stream, const Redactor& redactor, LogOptions options) {
  return std::make_unique<TextLog>(stream, redactor, std::move(options));
}

}  // namespace lockstep::cli
