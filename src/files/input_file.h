#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "files/fd.h"
#include "files/near_folder.h"

namespace lockstep::files {

/// A regular file that is open for reading.
class InputFile {
 public:
  /// Throws Failure when there is no such regular file or it cannot be read. Never waits, whatever is there.
  explicit InputFile(const std::string& path);
  /// The same, for one of many files of a folder.
  InputFile(const std::string& path, NearFolder& near);

  /// Reads up to `at_most` bytes; 0 at the end. Throws Failure.
  std::size_t read(char* to, std::size_t at_most);

  /// When it was opened.
  std::size_t size() const { return size_; }
  /// The same for equal files, whatever their names.
  dev_t device() const { return device_; }
  ino_t inode() const { return inode_; }

 private:
  InputFile(const std::string& path, Fd fd);

  std::string path_;
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::size_t size_ = 0;
  std::size_t done_ = 0;
  bool ended_ = false;
};

}  // namespace lockstep::files
