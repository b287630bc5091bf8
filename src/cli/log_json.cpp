#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "cli/json.h"
#include "cli/log.h"
#include "core/activity.h"

namespace lockstep::cli {
namespace {

class JsonLog : public Log {
 public:
  JsonLog(std::ostream& stream, const Redactor& redactor, LogOptions options)
      : stream_(stream), redactor_(redactor), options_(std::move(options)) {}

  void connected(const SessionFacts& facts) override {
    options_.lock_namespace = facts.lock_namespace;
    options_.lock_resource = facts.lock_resource;
    if (options_.verbosity == Verbosity::quiet) return;
    write("info", "connected", "connected to database " + facts.database,
          {{"database", facts.database},
           {"user", facts.user},
           {"server_version", facts.server_version},
           {"backend_pid", facts.backend_pid},
           {"history", facts.schema + "." + facts.table}});
  }

  void note(std::string_view message) override { info("note", std::string(message), Json::object()); }

  void warning(std::string_view message) override {
    write("warning", "warning", std::string(message), Json::object());
  }

  void waiting(const LockHolder& holder, Milliseconds waited) override {
    info("waiting", "waiting for the migration lock, held by " + describe_holder(holder),
         {{"waited_ms", waited.count()}, {"holder", to_json(holder)}});
  }

  void planned(const Plan& plan) override {
    info("planned", fmt::format("{} to {}", counted(plan.steps.size(), "migration"), verb(plan)),
         {{"pending", plan.steps.size()}});
  }

  void started(const Step& step) override {
    auto fields = to_json(step.migration);
    if (step.resumes) fields["statements_done"] = step.resumes->statements_done;
    info("started", step.migration.script + " started", fields);
  }

  void noticed(const Step& step, const Notice& notice) override {
    const bool serious = notice.severity == "WARNING";
    if (options_.verbosity == Verbosity::quiet && !serious) return;
    auto fields = to_json(step.migration);
    fields["severity"] = notice.severity;
    fields["sqlstate"] = notice.sqlstate;
    fields["detail"] = text_or_null(notice.detail);
    fields["hint"] = text_or_null(notice.hint);
    write(serious ? "warning" : "info", "notice", notice.message, fields);
  }

  void running(const Step& step, const Activity& activity) override {
    auto fields = to_json(step.migration);
    fields["running_ms"] = activity.running.count();
    fields["waits_for"] = text_or_null(activity.waits_for);
    fields["progress"] = text_or_null(activity.progress);
    auto& blockers = fields["blockers"] = Json::array();
    for (const auto& blocker : activity.blockers) blockers.push_back(to_json(blocker));
    info("running", step.migration.script + " is still running", fields);
  }

  void retrying(const Step& step, const Error& error, Milliseconds pause) override {
    auto fields = to_json(step.migration);
    fields["sqlstate"] = error.sqlstate;
    fields["detail"] = text_or_null(error.detail);
    fields["pause_ms"] = pause.count();
    write("warning", "retrying", error.message, fields);
  }

  void finished(const Step& step, const AppliedStep& applied) override {
    auto fields = to_json(step.migration);
    fields["duration_ms"] = applied.duration.count();
    fields["statements"] = applied.statements;
    info("finished", step.migration.script + " done", fields);
  }

  void failed(const Error& error) override {
    auto fields = to_json(error);
    fields.erase("message");
    write("error", "failed", error.message, fields);
  }

  void settle() override {}

 private:
  void info(std::string_view event, std::string message, const Json& fields) {
    if (options_.verbosity != Verbosity::quiet) write("info", event, std::move(message), fields);
  }

  void write(std::string_view level, std::string_view event, std::string message, const Json& fields) {
    Json line = {{"time", utc_text(options_.now())},
                 {"level", level},
                 {"run_id", options_.run_id},
                 {"command", options_.command},
                 {"lock_namespace", options_.lock_namespace},
                 {"lock_resource", options_.lock_resource ? Json(*options_.lock_resource) : Json()},
                 {"event", event},
                 {"message", std::move(message)}};
    line.update(fields);
    stream_ << to_text(redacted(std::move(line), redactor_), Layout::line) << std::flush;
  }

  std::ostream& stream_;
  const Redactor& redactor_;
  LogOptions options_;
};

}  // namespace

std::unique_ptr<Log> make_json_log(std::ostream& stream, const Redactor& redactor, LogOptions options) {
  return std::make_unique<JsonLog>(stream, redactor, std::move(options));
}

}  // namespace lockstep::cli
