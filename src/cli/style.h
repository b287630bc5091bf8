#pragma once

#include <string>
#include <string_view>

namespace lockstep::cli {

enum class Color { none, red, green, yellow, bold, dim };

/// Whether escape sequences may be written.
enum class Coloring { off, on };

/// `text` between the escape sequences of a colour.
std::string paint(std::string_view text, Color color, Coloring coloring);

}  // namespace lockstep::cli
