#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/placeholders.h"
#include "sql/source.h"

namespace lockstep::sql {

/// What is being read, so that it is known what a placeholder there means.
enum class Around : std::uint8_t {
  code,    ///< a placeholder is replaced; `$$` begins a quoted text whatever follows
  quoted,  ///< a placeholder is replaced, and a dollar sign in front of its mark is the escape
  body,    ///< dollar-quoted: like `quoted` if the file asks for it, else like `kept`
  kept,    ///< a comment or COPY data: nothing is replaced
};

/// Reads a file with the values of placeholders in their place. Values are not looked at again.
///
/// Each call of `read` ends in front of the next placeholder. The call after that decides on it, by what the
/// reader then says is around it: so the reader must not read on just to look ahead (`at_placeholder`).
class Substitution {
 public:
  /// `uses` may be nullptr. The references must outlive this.
  Substitution(const Placeholders& placeholders, PlaceholderScope scope, PlaceholderUses* uses);

  /// The file itself; `chunk` says how much of it is read at a time. Call before reading.
  void open(ReadBytes read, std::size_t chunk, std::size_t file);

  /// As ReadBytes.
  std::size_t read(char* to, std::size_t at_most);

  void read_as(Around around) { around_ = around; }
  PlaceholderScope scope() const { return scope_; }
  void set_scope(PlaceholderScope scope) { scope_ = scope; }

  /// What the next `read` decides on comes next in the file: a placeholder or an escape.
  bool at_placeholder() const { return mark_.has_value() && value_.empty(); }
  /// That is the escape.
  bool at_escape() const { return at_placeholder() && mark_->escaped; }
  /// That begins with a dollar sign.
  bool at_dollar() const { return at_placeholder() && raw_[at_] == '$'; }

  /// The values that were read, in their order.
  std::span<const Replaced> replaced() const { return replaced_; }
  /// Forgets those that end before `offset`.
  void forget(std::size_t offset);

 private:
  struct Mark {
    std::size_t size = 0;
    std::string name = {};
    std::optional<std::string> fallback = std::nullopt;
    bool escaped = false;
  };

  void begin();
  void look();
  void fill();
  bool keeps() const;
  void decide();
  void keep_byte() { plain_ = at_ + 1; }
  void replace(std::size_t size, std::string value);
  Place place();
  std::optional<Mark> mark_at(std::size_t begin) const;
  bool may_go_on(std::size_t begin) const;

  const Placeholders& placeholders_;
  PlaceholderScope scope_;
  PlaceholderUses* uses_;
  ReadBytes read_;
  std::size_t chunk_ = 0;
  std::string raw_;           ///< of the file, from the place counted_ on
  std::size_t at_ = 0;        ///< what comes next in it
  std::size_t plain_ = 0;     ///< up to there it has no mark
  std::optional<Mark> mark_;  ///< there
  std::string value_;         ///< the rest of it, when it comes before raw_
  std::size_t given_ = 0;     ///< how many bytes were read
  Place counted_;             ///< of raw_[counted_at_]
  std::size_t counted_at_ = 0;
  std::vector<Replaced> replaced_;
  Around around_ = Around::code;
  bool begun_ = false;
  bool ended_ = false;  ///< there is no more than raw_
};

/// The last one of `replaced` that begins at or before `offset`; nullptr if there is none.
const Replaced* last_before(std::span<const Replaced> replaced, std::size_t offset);

}  // namespace lockstep::sql
