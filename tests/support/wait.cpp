#include "support/wait.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace lockstep::test {
namespace {

/// How many times longer than usual everything may take: under valgrind, or on a busy machine.
int patience() {
  const char* const given = std::getenv("LOCKSTEP_TEST_PATIENCE");
  return given == nullptr ? 1 : std::max(1, std::atoi(given));
}

}  // namespace

bool holds_within(std::chrono::milliseconds deadline, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + deadline * patience();
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

void wait_until(std::string_view what, const std::function<bool()>& condition,
                std::chrono::milliseconds deadline) {
  if (holds_within(deadline, condition)) return;
  throw std::runtime_error("waited " + std::to_string(deadline.count()) + " ms in vain for " +
                           std::string(what));
}

}  // namespace lockstep::test
