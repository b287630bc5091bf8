#pragma once

#include <string_view>

#include "core/database.h"
#include "core/plan.h"

namespace lockstep {

/// The second seam: tells what happens while it happens. Results are rendered elsewhere.
class Reporter {
 public:
  virtual ~Reporter() = default;

  virtual void note(std::string_view message) = 0;
  virtual void warning(std::string_view message) = 0;
  /// Called when the wait begins and whenever the holder, or what it runs, changes.
  virtual void waiting(const LockHolder& holder, Milliseconds waited) = 0;
  virtual void planned(const Plan& plan) = 0;
  virtual void started(const Step& step) = 0;
  virtual void noticed(const Step& step, const Notice& notice) = 0;
  /// A statement takes long: told when that begins, when its blockers change, and now and then.
  virtual void running(const Step& step, const Activity& activity) = 0;
  /// The migration was rolled back and will be tried again after the pause.
  virtual void retrying(const Step& step, const Error& error, Milliseconds pause) = 0;
  virtual void finished(const Step& step, const AppliedStep& applied) = 0;
};

}  // namespace lockstep
