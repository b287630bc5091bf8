#include "db/listening.h"

#include <algorithm>

namespace lockstep::db {
namespace {

/// Who blocks must be seen before a short lock_timeout ends the wait.
Milliseconds first_look(std::optional<Milliseconds> lock_timeout) {
  if (!lock_timeout || lock_timeout->count() == 0) return Session::look_every;
  return std::clamp(*lock_timeout / 2, Milliseconds(10), Session::look_every);
}

}  // namespace

Listening::Listening(Session& session, Observer& observer, const StepEvents& events,
                     std::optional<Milliseconds> lock_timeout)
    : session_(session) {
  session_.set_notice_sink(events.noticed);
  if (!events.running) return;
  const auto tell = [&observer, &events](Milliseconds running) {
    const auto activity = observer.look(running);
    const bool news = activity && (running >= Session::look_every || !activity->blockers.empty());
    if (news) events.running(*activity);
  };
  session_.set_wait_hook(tell, first_look(lock_timeout));
}

Listening::~Listening() {
  session_.set_notice_sink({});
  session_.set_wait_hook({});
}

}  // namespace lockstep::db
