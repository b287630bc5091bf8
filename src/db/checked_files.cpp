#include "db/checked_files.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace lockstep::db {
namespace {

constexpr std::size_t block_size = 64 * 1024;

/// As many bytes as there are up to a whole block.
std::string read_block(const sql::ReadBytes& read) {
  std::string block(block_size, '\0');
  std::size_t size = 0;
  while (size < block.size()) {
    const auto got = read(block.data() + size, block.size() - size);
    if (got == 0) break;
    size += got;
  }
  block.resize(size);
  return block;
}

}  // namespace

/// Hands out blocks that are what they were.
class CheckedFiles::Reader {
 public:
  Reader(sql::ReadBytes read, const Blocks& blocks, const std::function<Failure()>& changed)
      : read_(std::move(read)), blocks_(blocks), changed_(changed) {}

  std::size_t read(char* to, std::size_t at_most) {
    if (left_.empty()) next();
    const auto size = std::min(at_most, left_.size());
    std::copy_n(left_.data(), size, to);
    left_.remove_prefix(size);
    return size;
  }

 private:
  void next() {
    block_ = read_block(read_);
    left_ = block_;
    const bool at_end = next_ == blocks_.size();
    if (at_end && block_.empty()) return;
    if (at_end || sha256(block_) != blocks_[next_]) throw changed_();
    ++next_;
  }

  const sql::ReadBytes read_;
  const Blocks& blocks_;
  const std::function<Failure()>& changed_;
  std::size_t next_ = 0;
  std::string block_;
  std::string_view left_;
};

CheckedFiles::CheckedFiles(const OpenScript& open, const Migration& migration,
                           std::function<Failure()> changed)
    : open_(open), migration_(migration), changed_(std::move(changed)) {
  const OpenScript remembered = [this](const Migration& of, std::size_t file) {
    return remembering(open_(of, file));
  };
  checksum_ = checksum_of(remembered, migration_);
}

/// The files are read one after the other.
sql::ReadBytes CheckedFiles::remembering(sql::ReadBytes read) {
  files_.emplace_back();
  return [this, read = std::move(read), block = std::string(), given = std::size_t{0}](
             char* to, std::size_t at_most) mutable {
    if (given == block.size()) {
      block = read_block(read);
      given = 0;
      if (!block.empty()) files_.back().push_back(sha256(block));
    }
    const auto size = std::min(at_most, block.size() - given);
    std::copy_n(block.data() + given, size, to);
    given += size;
    return size;
  };
}

OpenScript CheckedFiles::opener() const {
  return [this](const Migration& migration, std::size_t file) -> sql::ReadBytes {
    const auto reader = std::make_shared<Reader>(open_(migration, file), files_.at(file), changed_);
    return [reader](char* to, std::size_t at_most) { return reader->read(to, at_most); };
  };
}

}  // namespace lockstep::db
