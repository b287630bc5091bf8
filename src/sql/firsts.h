#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace lockstep::sql {

/// The first ones of what may be in a file a million times: nobody reads more, and they would fill the
/// memory.
template <typename T>
class Firsts {
 public:
  static constexpr std::size_t most = 100;

  void push_back(T one) {
    if (kept_.size() < most) {
      kept_.push_back(std::move(one));
    } else {
      ++left_out_;
    }
  }

  /// Of others that belong here and were not kept either.
  void leave_out(std::size_t count) { left_out_ += count; }

  /// How many there are besides those that are here.
  std::size_t left_out() const { return left_out_; }

  bool empty() const { return kept_.empty(); }
  std::size_t size() const { return kept_.size(); }
  const T& front() const { return kept_.front(); }
  const T& operator[](std::size_t at) const { return kept_[at]; }
  auto begin() const { return kept_.begin(); }
  auto end() const { return kept_.end(); }

 private:
  std::vector<T> kept_;
  std::size_t left_out_ = 0;
};

}  // namespace lockstep::sql
