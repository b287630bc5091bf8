#include "files/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace lockstep::files {
namespace {

constexpr int how_to_open = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Fd open_near(const std::string& path, NearFolder& near) {
  const int folder = near.descriptor_for(path);
  return Fd(::openat(folder, near.name_of(path), how_to_open));
}

[[noreturn]] void fail(const std::string& path, std::string code, std::string message, std::string hint) {
  throw Failure(Error{.kind = ErrorKind::files,
                      .code = std::move(code),
                      .message = std::move(message),
                      .where = SourcePosition{printable(path)},
                      .hints = {std::move(hint)}});
}

[[noreturn]] void fail_to_read(const std::string& path, int error) {
  if (error == ENOENT || error == ESTALE) {
    fail(path, "file_vanished", "the file has gone since it was found",
         "Keep the files in place while lockstep runs, and start it again.");
  }
  fail(path, "file_unreadable", fmt::format("the file cannot be read: {}", std::strerror(error)),
       "Give the user that runs lockstep the right to read it.");
}

}  // namespace

InputFile::InputFile(const std::string& path) : InputFile(path, Fd(::open(path.c_str(), how_to_open))) {}

InputFile::InputFile(const std::string& path, NearFolder& near) : InputFile(path, open_near(path, near)) {}

InputFile::InputFile(const std::string& path, Fd fd) : path_(path), fd_(std::move(fd)) {
  struct stat facts = {};
  if (!fd_ || ::fstat(fd_.get(), &facts) != 0) fail_to_read(path, errno);
  if (!S_ISREG(facts.st_mode)) {
    fail(path, "not_a_file", "this is not a regular file",
         "A migration is a file on disk, or a link to one; remove this.");
  }
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  size_ = static_cast<std::size_t>(facts.st_size);
}

/// A short read that completes the size the file had when it was opened ends it: one call less for most
/// files.
std::size_t InputFile::read(char* to, std::size_t at_most) {
  if (ended_) return 0;
  ssize_t got = 0;
  do {
    got = ::read(fd_.get(), to, at_most);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail_to_read(path_, errno);
  const auto size = static_cast<std::size_t>(got);
  done_ += size;
  ended_ = size == 0 || (size < at_most && done_ == size_);
  return size;
}

}  // namespace lockstep::files
