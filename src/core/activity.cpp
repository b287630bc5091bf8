#include "core/activity.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr Milliseconds sign_of_life{30000};

std::string described(const LockHolder& session, std::string_view since_what) {
  auto text = fmt::format("pid {}", session.pid);
  if (!session.application.empty()) text += fmt::format(" ({})", session.application);
  if (!session.user.empty()) text += fmt::format(", user {}", session.user);
  if (!session.client.empty()) text += fmt::format(", from {}", session.client);
  if (!session.since.empty()) text += fmt::format(", {} since {}", since_what, session.since);
  if (session.query.empty()) return text;
  const auto* const what = session.state == "active" ? "running" : "last statement";
  return text + fmt::format(", {}: {}", what, session.query);
}

}  // namespace

std::string describe_holder(const LockHolder& holder) {
  return described(holder, "connected");
}
std::string describe_blocker(const LockHolder& blocker) {
  return described(blocker, "in a transaction");
}

std::string describe(const Activity& activity) {
  std::string text = activity.progress;
  if (!activity.waits_for.empty() && (text.empty() || !activity.blockers.empty())) {
    text += fmt::format("{}waiting for {}", text.empty() ? "" : ", ", activity.waits_for);
  }
  for (const auto& blocker : activity.blockers) text += ", blocked by " + describe_blocker(blocker);
  return text;
}

void Watch::see(const Activity& activity) {
  const bool changed = activity.blockers != last_.blockers;
  last_ = activity;
  if (!changed && activity.running < next_) return;
  next_ = activity.running + sign_of_life;
  reporter_.running(step_, activity);
}

}  // namespace lockstep
