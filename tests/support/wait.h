#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace lockstep::test {

using namespace std::chrono_literals;

/// Looks every few milliseconds whether `condition` holds and returns when it does. Throws
/// std::runtime_error, naming `what`, when it still does not after `deadline`. The only place of the tests
/// where time is spent waiting.
void wait_until(std::string_view what, const std::function<bool()>& condition,
                std::chrono::milliseconds deadline = 30s);

/// The same without the exception: whether the condition held in time.
bool holds_within(std::chrono::milliseconds deadline, const std::function<bool()>& condition);

}  // namespace lockstep::test
