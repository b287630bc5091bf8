#include "core/checksum.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

using namespace lockstep;
using namespace std::string_literals;

namespace {

/// The rule of the checksum once more, on a whole text and without regard to speed.
std::string normalised(std::string text) {
  const auto replace_all = [&text](std::string_view from) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
      text.replace(at, from.size(), "\n");
    }
  };
  if (text.rfind("\xef\xbb\xbf", 0) == 0) text.erase(0, 3);
  replace_all("\r\n");
  replace_all("\r");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string plain_sha256(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string sum = "sha256:";
  for (const auto byte : digest) sum += fmt::format("{:02x}", byte);
  return sum;
}

std::string in_pieces(std::string_view text, std::size_t size) {
  Checksum sum;
  for (; text.size() > size; text.remove_prefix(size)) sum.update(text.substr(0, size));
  sum.update(text);
  return sum.finish();
}

}  // namespace

TEST_CASE("the checksum is SHA-256") {
  // FIPS 180-4's examples and NIST's long message.
  CHECK(checksum("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(checksum("abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(checksum("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(checksum(std::string(1'000'000, 'a')) ==
        "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("byte order mark, kind of line end and line ends at the end do not count") {
  // printf 'create table t (\n  id int\n);' | sha256sum
  const auto expected = "sha256:2e9702e3cdaacc7534c35e904dd33a23541221ede957c9b903d5c127e3bbd8e1";
  for (const auto& text : {"create table t (\n  id int\n);"s, "create table t (\n  id int\n);\n"s,
                           "create table t (\r\n  id int\r\n);\r\n"s, "create table t (\r  id int\r);\r"s,
                           "\xef\xbb\xbf"s + "create table t (\r\n  id int\r\n);\n\n\r\n\r"s}) {
    CHECK(checksum(text) == expected);
  }
}

TEST_CASE("everything else counts") {
  const auto base = checksum("a\n\nb");
  for (const auto& text :
       {"a\nb"s, "a\n\n\nb"s, "a\n\nb "s, " a\n\nb"s, "\na\n\nb"s, "a\n\nB"s, "a\n\nb\n "s, "a\n\nb\0"s,
        "\xef\xbb"s + "a\n\nb"s, "a\xef\xbb\xbf\n\nb"s, "\n\xef\xbb\xbf"s + "a\n\nb"s}) {
    CAPTURE(text);
    CHECK(checksum(text) != base);
  }
  CHECK(checksum("a\r\r\nb") == base);
  CHECK(checksum("a\n\r\nb") == base);
}

TEST_CASE("a second byte order mark counts, the first does not") {
  CHECK(checksum("\xef\xbb\xbf\xef\xbb\xbfx") != checksum("\xef\xbb\xbfx"));
  CHECK(checksum("\xef\xbb") != checksum(""));
  CHECK(checksum("\xef\xbb\xbf") == checksum(""));
}

TEST_CASE("the checksum of a file of nothing but line ends is that of an empty one") {
  for (const auto text : {"\n", "\r", "\r\n", "\n\n\r\r\n"}) CHECK(checksum(text) == checksum(""));
}

TEST_CASE("where the pieces of a file are cut makes no difference") {
  const std::string alphabet[] = {"\r", "\n", "\xef", "\xbb", "\xbf", "x"};
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < 6 * 6 * 6 * 6 * 6 * 6; ++n) {
    std::string text;
    for (std::size_t i = 0, rest = n; i < 6; ++i, rest /= 6) text += alphabet[rest % 6];
    const auto expected = plain_sha256(normalised(text));
    for (const std::size_t size : {1U, 2U, 4U, 99U}) {
      if (in_pieces(text, size) != expected) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a key for the lock is the start of the hash, most significant byte first") {
  CHECK(sha256_prefix("abc") == static_cast<std::int32_t>(0xba7816bfU));
  CHECK(sha256_prefix("") == static_cast<std::int32_t>(0xe3b0c442U));
}
