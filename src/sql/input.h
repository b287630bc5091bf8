#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "sql/source.h"
#include "sql/substitution.h"

namespace lockstep::sql {

/// A window on a file that is read once, front to back. It grows only as far as the caller asks it to keep
/// bytes. Bytes are named by their offset in the file: pointers into the window are good until the next
/// `more`.
class Input {
 public:
  /// The window's size until a statement needs more.
  static constexpr std::size_t first_capacity = std::size_t{256} * 1024;

  explicit Input(ReadBytes read, std::size_t window = first_capacity, std::size_t file = 0)
      : read_(std::move(read)), window_(window), counted_{.file = file} {}
  /// Reads what the substitution makes of its file; that must outlive this.
  Input(Substitution& substitution, std::size_t window, std::size_t file);

  /// Reads on. Bytes before `keep_from` are forgotten. False at the end of the file.
  bool more(std::size_t keep_from);
  /// Gives back the memory that a large statement has taken, but for the bytes from `keep_from` on.
  void shrink(std::size_t keep_from);
  /// True once `more` has met the end.
  bool ended() const { return ended_; }

  const char* at(std::size_t offset) const { return buffer_.get() + (offset - start_); }
  /// The end of the window; the byte there can be read and is 0.
  const char* end() const { return buffer_.get() + size_; }
  std::size_t offset_of(const char* byte) const {
    return start_ + static_cast<std::size_t>(byte - buffer_.get());
  }
  std::string_view view(std::size_t from, std::size_t to) const { return {at(from), to - from}; }

  /// Where `offset` is in the file: within the value of a placeholder, where the placeholder begins. Calls
  /// must go forward; at most to the end of the window.
  Place place(std::size_t offset);
  /// The text begins at `offset`, behind a mark that no editor shows: that is line 1, column 1.
  void begin_text(std::size_t offset) {
    counted_ = {.offset = offset, .file = counted_.file};
    counted_to_ = offset;
  }
  /// Overwrites part of the window with blanks.
  void blank(std::size_t from, std::size_t to);

  /// What is around the bytes that `more` reads next.
  void read_as(Around around) {
    if (substitution_ != nullptr) substitution_->read_as(around);
  }
  /// `more` would decide on a placeholder: see Substitution.
  bool at_placeholder() const { return substitution_ != nullptr && substitution_->at_placeholder(); }
  bool at_escape() const { return substitution_ != nullptr && substitution_->at_escape(); }
  /// What comes next is a placeholder whose mark begins with a dollar sign.
  bool at_dollar() const { return substitution_ != nullptr && substitution_->at_dollar(); }

 private:
  std::size_t kept_from(std::size_t offset) const { return start_ + size_ - offset; }
  void make_room(std::size_t keep_from);
  void keep(std::size_t from, std::size_t capacity);

  ReadBytes read_;
  std::size_t window_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(1);
  std::size_t capacity_ = 0;  ///< without the byte for the final 0
  std::size_t size_ = 0;
  std::size_t start_ = 0;  ///< offset of the window's first byte
  Place counted_;          ///< of counted_to_
  std::size_t counted_to_ = 0;
  Substitution* substitution_ = nullptr;
  bool ended_ = false;
};

}  // namespace lockstep::sql
