#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>

#include "files/fd.h"

namespace lockstep::files {

/// Where a path is opened from: the kernel looks up the folder of many neighbours once, not for each of them.
class NearFolder {
 public:
  /// The descriptor to open `name_of(path)` from, good until the next call.
  int descriptor_for(const std::string& path) {
    const auto folder = std::string_view(path).substr(0, begin_of_name(path));
    if (!fd_ || folder != folder_) {
      folder_ = folder;
      fd_ = Fd(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    return fd_ ? fd_.get() : AT_FDCWD;
  }

  /// The last part of the path; all of it where its folder could not be opened.
  const char* name_of(const std::string& path) const {
    return path.c_str() + (fd_ ? begin_of_name(path) : 0);
  }

 private:
  static std::size_t begin_of_name(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? 0 : slash + 1;
  }

  std::string folder_;
  Fd fd_;
};

}  // namespace lockstep::files
