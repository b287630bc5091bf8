#pragma once

#include <string>
#include <vector>

#include "core/reporter.h"

namespace lockstep::test {

/// Remembers what it was told, one line an event.
class RecordingReporter : public Reporter {
 public:
  void note(std::string_view message) override { log.push_back("note " + std::string(message)); }
  void warning(std::string_view message) override { log.push_back("warning " + std::string(message)); }
  void waiting(const LockHolder& holder, Milliseconds) override {
    log.push_back("waiting for " + std::to_string(holder.pid));
  }
  void planned(const Plan& plan) override { log.push_back("planned " + std::to_string(plan.steps.size())); }
  void started(const Step& step) override { log.push_back("started " + step.migration.script); }
  void noticed(const Step&, const Notice& notice) override { log.push_back("noticed " + notice.message); }
  void running(const Step& step, const Activity&) override {
    log.push_back("running " + step.migration.script);
  }
  void retrying(const Step& step, const Error&, Milliseconds) override {
    log.push_back("retrying " + step.migration.script);
  }
  void finished(const Step& step, const AppliedStep&) override {
    log.push_back("finished " + step.migration.script);
  }

  std::vector<std::string> log;
};

}  // namespace lockstep::test
