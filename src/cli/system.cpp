#include "cli/system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "core/text.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t largest_text_file = 16 << 20;

/// Closes a descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

Failure file_failure(std::string code, std::string_view verb, const std::string& path, std::string_view why) {
  Error error{.kind = ErrorKind::config, .code = std::move(code)};
  error.message = fmt::format("cannot {} {}: {}", verb, printable(path), why);
  return Failure(std::move(error));
}

Failure cannot_read(const std::string& path, int number) {
  return file_failure("unreadable_file", "read", path, std::strerror(number));
}

Failure cannot_write(const std::string& path, int number) {
  return file_failure("unwritable_file", "write", path, std::strerror(number));
}

std::string read_all(int descriptor, const std::string& path) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto size = ::read(descriptor, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw cannot_read(path, errno);
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > largest_text_file) {
      throw file_failure("unreadable_file", "read", path, "it is larger than 16 MiB");
    }
  }
}

void write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const auto size = ::write(descriptor, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw cannot_write(path, errno);
    text.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace

Environment environment_of(const char* const* variables) {
  Environment environment;
  for (; *variables != nullptr; ++variables) {
    const std::string_view entry(*variables);
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return environment;
}

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1;
}

Terminal terminal_of(int descriptor) {
  Terminal terminal{.is_terminal = is_terminal(descriptor)};
  winsize size{};
  if (terminal.is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  }
  return terminal;
}

std::optional<TextFile> read_text_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (file.get() < 0) throw cannot_read(path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw cannot_read(path, errno);
  const bool open_to_others = S_ISREG(status.st_mode) && (status.st_mode & (S_IROTH | S_IWOTH)) != 0;
  return TextFile{.text = read_all(file.get(), path), .others_can_read = open_to_others};
}

void write_new_file(const std::string& path, std::string_view text) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem) throw cannot_write(path, problem.value());
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) throw cannot_write(path, errno);
  write_all(file.get(), text, path);
}

std::optional<std::string> read_answer(const std::function<void()>& check) {
  std::string answer;
  for (;;) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&input, 1, -1);
    if (ready < 0 && errno == EINTR) check();
    if (ready <= 0) continue;
    char c = '\n';
    const auto size = ::read(STDIN_FILENO, &c, 1);
    if (size <= 0 && answer.empty()) return std::nullopt;
    if (size <= 0 || c == '\n') return answer;
    answer += c;
  }
}

void keep_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // The lowest free number is the one that is taken.
    [[maybe_unused]] const int taken = ::open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::string random_uuid() {
  std::random_device device;
  std::array<std::uint32_t, 4> random{};
  for (auto& part : random) part = device();
  random[1] = (random[1] & 0xFFFF0FFFU) | 0x00004000U;
  random[2] = (random[2] & 0x3FFFFFFFU) | 0x80000000U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", random[0], random[1] >> 16U,
                     random[1] & 0xFFFFU, random[2] >> 16U, random[2] & 0xFFFFU, random[3]);
}

}  // namespace lockstep::cli
