#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace lockstep {

/// SHA-256 of a migration file, fed in pieces. A UTF-8 BOM at the start, the difference between CRLF, CR and
/// LF, and line ends at the end of the file do not count; every other byte does.
class Checksum {
 public:
  Checksum();
  ~Checksum();

  void update(std::string_view bytes);

  /// "sha256:" and 64 lower-case hexadecimal digits. Call once, after the last update.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Makes OpenSSL ready, which takes a millisecond: on a thread that has nothing better to do. Any other
/// function here does it too when it is needed.
void prepare_checksums();

/// Checksum of a whole file in memory.
std::string checksum(std::string_view bytes);

/// SHA-256 of exactly these bytes.
using Digest = std::array<unsigned char, 32>;
Digest sha256(std::string_view bytes);

/// The first four bytes of SHA-256 over `text`, big-endian, as PostgreSQL's int4.
std::int32_t sha256_prefix(std::string_view text);

}  // namespace lockstep
