// SPDX-License-Identifier: GPL-2.0-only
#include "lib/remote/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>

#include <fmt/core.h>

#include "lib/base/os_error.h"
#include "lib/base/random.h"

namespace fkt::remote {
namespace {

// An eavesdropper can test tokens offline, so a token that the user chooses must be long.
constexpr std::size_t kLeastToken = 16;
constexpr std::size_t kMostToken = 4096;  // most bytes read of a token's file

using Proof = std::array<std::uint8_t, FKT_REMOTE_PROOF_BYTES>;

template <class T>
void add(std::string& out, const T& value, std::size_t bytes = sizeof(T)) {
  out.append(reinterpret_cast<const char*>(&value), bytes);
}

// Returns nothing when libcrypto fails.
std::optional<Proof> hmac(const Token& token, const std::string& text) {
  Proof proof{};
  unsigned int size = proof.size();
  const unsigned char* done =
      HMAC(EVP_sha256(), token.text().data(), static_cast<int>(token.text().size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), proof.data(), &size);
  if (!done || size != proof.size()) return std::nullopt;
  return proof;
}

// Without a proof the message keeps zeros, which the other end refuses.
void store(const std::optional<Proof>& proof, std::uint8_t (&out)[FKT_REMOTE_PROOF_BYTES]) {
  if (proof) std::memcpy(out, proof->data(), sizeof out);
}

bool matches(const std::optional<Proof>& proof, const std::uint8_t (&in)[FKT_REMOTE_PROOF_BYTES]) {
  return proof && CRYPTO_memcmp(proof->data(), in, sizeof in) == 0;
}

std::optional<Proof> proof_of(const Token& token, const Nonce& challenge,
                              const fkt_remote_hello& hello) {
  std::string text = "fkt sender";
  add(text, challenge);
  add(text, hello, offsetof(fkt_remote_hello, proof));
  return hmac(token, text);
}

std::optional<Proof> proof_of(const Token& token, const Nonce& challenge,
                              const fkt_remote_hello& hello, const fkt_remote_answer& answer) {
  std::string text = "fkt receiver";
  add(text, challenge);
  add(text, hello.nonce);
  add(text, answer, offsetof(fkt_remote_answer, proof));
  return hmac(token, text);
}

}  // namespace

Result<Token> Token::fresh() {
  auto text = FKT_TRY(random_token());
  return Token(std::move(text));
}

Result<Token> Token::of(std::string_view text, const std::string& where) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  if (text.size() < kLeastToken) {
    return Error{
        ErrorCode::usage,
        fmt::format("{}: a token has at least {} characters (fkt_receive makes a good one)", where,
                    kLeastToken)};
  }
  // Probably the wrong file.
  const auto is_printable = [](unsigned char c) { return c >= 0x20 && c != 0x7f; };
  if (!std::ranges::all_of(text, is_printable)) {
    return Error{ErrorCode::usage, where + ": a token is printable text in one line"};
  }
  return Token(std::string(text));
}

Result<Token> Token::read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return os_failure(file);
  std::string text(kMostToken, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return os_failure(file);
  return of(std::string_view(text).substr(0, static_cast<std::size_t>(in.gcount())), file);
}

Result<Nonce> random_nonce() {
  Nonce nonce;
  FKT_TRY(random_bytes(std::as_writable_bytes(std::span(nonce))));
  return nonce;
}

void prove(const Token& token, const Nonce& challenge, fkt_remote_hello& hello) {
  store(proof_of(token, challenge, hello), hello.proof);
}

void prove(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
           fkt_remote_answer& answer) {
  store(proof_of(token, challenge, hello, answer), answer.proof);
}

bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello) {
  return matches(proof_of(token, challenge, hello), hello.proof);
}

bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
            const fkt_remote_answer& answer) {
  return matches(proof_of(token, challenge, hello, answer), answer.proof);
}

}  // namespace fkt::remote
