#include "support/temp_dir.h"

#include <stdlib.h>

#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

namespace lockstep::test {
namespace {

bool test_failed = false;

class FailureWatch : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;
  void testCasePartialStarting(const Catch::TestCaseInfo&, std::uint64_t) override { test_failed = false; }
  void assertionEnded(const Catch::AssertionStats& stats) override {
    if (!stats.assertionResult.isOk()) test_failed = true;
  }
};
CATCH_REGISTER_LISTENER(FailureWatch)

}  // namespace

bool current_test_failed() {
  return test_failed || std::uncaught_exceptions() > 0;
}

std::filesystem::path make_temp_dir(const std::string& prefix) {
  auto pattern = (std::filesystem::temp_directory_path() / (prefix + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot make a directory like " + pattern);
  return pattern;
}

TempDir::TempDir() : path_(make_temp_dir("lockstep-test-")) {}

TempDir::~TempDir() {
  if (current_test_failed()) {
    std::cerr << "left for a look: " << path_.string() << '\n';
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempDir::write_file(const std::filesystem::path& name, std::string_view bytes) const {
  const auto path = path_ / name;
  std::filesystem::create_directories(path.parent_path());
  test::write_file(path, bytes);
  return path;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace lockstep::test
