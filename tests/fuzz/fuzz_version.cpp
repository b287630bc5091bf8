#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/version.h"

using namespace lockstep;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

/// The input is two versions with a line end between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto middle = text.find('\n');
  if (middle == std::string_view::npos) return 0;
  const auto a = Version::parse(text.substr(0, middle));
  const auto b = Version::parse(text.substr(middle + 1));
  for (const auto& version : {a, b}) {
    if (!version) continue;
    require(Version::parse(version->text()) == version);
    require(Version::parse(version->canonical()) == version);
    require(Version::parse(version->canonical())->canonical() == version->canonical());
  }
  if (!a || !b) return 0;
  require((*a == *b) == (a->canonical() == b->canonical()));
  require((*a < *b) == (*b > *a));
  require((*a == *b) == (*b == *a));
  return 0;
}
