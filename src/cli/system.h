#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"

namespace lockstep::cli {

/// The functions of a Context that ask the operating system; main hands them in.

/// From the pointer that main gets; entries without a '=' are left out.
Environment environment_of(const char* const* variables);

/// Of a file descriptor: 1 is standard output, 2 standard error.
Terminal terminal_of(int descriptor);

bool is_terminal(int descriptor);

/// As Context::read_text_file. Larger files than 16 MiB are refused.
std::optional<TextFile> read_text_file(const std::string& path);

/// As Context::write_new_file.
void write_new_file(const std::string& path, std::string_view text);

/// As Context::read_answer, from standard input. `check` is called after every signal; it may throw.
std::optional<std::string> read_answer(const std::function<void()>& check);

/// Opens /dev/null in place of standard streams that are closed. Otherwise the next file or socket would take
/// their numbers, and log lines would go to the server. Standard output stays unwritable.
void keep_standard_streams();

/// A random UUID (version 4).
std::string random_uuid();

/// As Context::run_program. A variable with an empty value is removed. SIGTERM is passed on to the program.
int run_program(const std::vector<std::string>& argv, const Environment& variables);

}  // namespace lockstep::cli
