#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace lockstep::cli {

/// Masks secrets with "***" in every text that leaves the program.
///
/// A learned secret of four or more bytes is masked wherever it stands, in every spelling that an output can
/// give it. A shorter one would take ordinary words with it (and so tell what it is): it is masked only where
/// a value stands, as in "=x", ":x@" and "\"x\"". One that equals the user, host or database of the
/// connection cannot be told from these. Besides, every password in a URL or behind `password=` is masked,
/// learned or not.
class Redactor {
 public:
  void learn(std::string_view secret);
  void learn_conninfo(std::string_view conninfo);
  /// A user, host or database: not masked, whatever the password is.
  void know_name(std::string_view name);

  std::string operator()(std::string_view text) const;
  Error operator()(Error error) const;
  /// Masks what was learned and nothing else: for SQL, which may well say `password=`.
  std::string learned_only(std::string_view text) const;

 private:
  class Cover;
  void hide_learned(Cover& cover) const;
  bool is_name(const std::string& text) const;

  std::vector<std::string> everywhere_;
  std::vector<std::string> as_value_;
  std::vector<std::string> names_;
};

}  // namespace lockstep::cli
