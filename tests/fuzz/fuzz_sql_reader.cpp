#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sql/survey.h"
#include "support/script_pieces.h"

using lockstep::test::first_lost_byte;
using lockstep::test::read_script;

namespace {

const lockstep::sql::Placeholders declared{
    .values = {{"a", "b"}, {"e", ""}, {"q", "'"}, {"d", "$$"}, {"c", "copy t from stdin;\n"}, {"s", "${a}"}}};

}  // namespace

/// No byte of a script is lost, however it arrives, and looking at it breaks nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view script(reinterpret_cast<const char*>(data), size);
  const auto found = read_script(script);
  if (first_lost_byte(std::string(script), found)) std::abort();
  const std::size_t piece = size == 0 ? 1 : 1 + data[size / 2] % 5;
  if (read_script(script, piece, {.window = 4 * piece}) != found) std::abort();
  lockstep::sql::survey(lockstep::sql::read_from(script, piece));
  // What placeholders make of a script does not depend on how it arrives either.
  const lockstep::sql::ReaderOptions replacing{.placeholders = &declared};
  if (read_script(script, piece, replacing) != read_script(script, std::string_view::npos, replacing))
    std::abort();
  return 0;
}
