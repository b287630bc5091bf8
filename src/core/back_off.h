#pragma once

#include <algorithm>
#include <random>

#include "core/duration.h"

namespace lockstep {

/// Pauses that double from `shortest` to `longest`, each one shortened by up to a half at random, so that
/// many processes do not try in step.
class BackOff {
 public:
  BackOff(int seed, Milliseconds shortest, Milliseconds longest)
      : random_(static_cast<unsigned>(seed)), pause_(shortest), longest_(longest) {}

  Milliseconds next() {
    const auto pause = pause_;
    pause_ = std::min(pause_ * 2, longest_);
    return pause - Milliseconds(std::uniform_int_distribution<long>(0, pause.count() / 2)(random_));
  }

 private:
  std::minstd_rand random_;
  Milliseconds pause_;
  Milliseconds longest_;
};

}  // namespace lockstep
