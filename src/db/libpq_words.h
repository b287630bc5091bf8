#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace lockstep::db {

/// While it lives, keeps what libpq writes to standard error by itself: until a connection is open, nothing
/// else can be done with the server's warnings (a setting of the role that is wrong, for one) and its own
/// (about the password file).
class LibpqWords {
 public:
  LibpqWords();
  ~LibpqWords();
  LibpqWords(const LibpqWords&) = delete;
  LibpqWords& operator=(const LibpqWords&) = delete;

  /// All of it up to now, on one line.
  std::string line() const;

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  FILE* kept_ = nullptr;
  FILE* stderr_ = nullptr;
};

}  // namespace lockstep::db
