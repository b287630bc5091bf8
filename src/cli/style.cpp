#include "cli/style.h"

#include <fmt/format.h>

namespace lockstep::cli {
namespace {

/// SGR parameters of ECMA-48.
int parameter(Color color) {
  switch (color) {
    case Color::none:
      return 0;
    case Color::bold:
      return 1;
    case Color::dim:
      return 2;
    case Color::red:
      return 31;
    case Color::green:
      return 32;
    case Color::yellow:
      return 33;
  }
  return 0;
}

}  // namespace

std::string paint(std::string_view text, Color color, Coloring coloring) {
  if (coloring == Coloring::off || color == Color::none || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", parameter(color), text);
}

}  // namespace lockstep::cli
