#pragma once

#include <string>

#include "core/database.h"
#include "core/reporter.h"

namespace lockstep {

/// "pid 4711 (lockstep migrate …), user deploy, from 10.0.0.7, connected since …, running: create index …"
std::string describe_holder(const LockHolder& holder);
/// The same of a session that blocks a statement: its time is that of its transaction.
std::string describe_blocker(const LockHolder& blocker);

/// "waiting for Lock: relation, blocked by pid …" or "building index: scanning table, 40 %".
std::string describe(const Activity& activity);

/// Passes on what a person needs to hear of a statement that takes long: the first news, changes, and a sign
/// of life now and then.
class Watch {
 public:
  Watch(const Step& step, Reporter& reporter) : step_(step), reporter_(reporter) {}

  void see(const Activity& activity);

  /// Who blocked the statement when it was last seen.
  const std::vector<LockHolder>& blockers() const { return last_.blockers; }

 private:
  const Step& step_;
  Reporter& reporter_;
  Activity last_;
  Milliseconds next_{0};
};

}  // namespace lockstep
