// SPDX-License-Identifier: GPL-2.0-only
// The secret that sender and receiver of a recording share, and the proofs by which each shows that
// it knows the secret (include/fkt/remote.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <fkt/remote.h>

#include "lib/base/result.h"

namespace fkt::remote {

inline constexpr const char* kTokenVariable = "FKT_TOKEN";  // the environment variable

class Token {
 public:
  // Makes a new token: 128 random bits in hexadecimal.
  static Result<Token> fresh();
  // Makes a token from the user's `text`, without blanks around it. `where` is the subject of
  // errors. Error (code usage): the text is so short that it could be found by trying.
  static Result<Token> of(std::string_view text, const std::string& where);
  // Reads a token from a file.
  static Result<Token> read(const std::string& file);

  const std::string& text() const { return text_; }

 private:
  explicit Token(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

using Nonce = std::array<std::uint8_t, FKT_REMOTE_NONCE_BYTES>;
Result<Nonce> random_nonce();

// Sets the message's proof, computed from its other fields, which must be set before.
void prove(const Token& token, const Nonce& challenge, fkt_remote_hello& hello);
void prove(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
           fkt_remote_answer& answer);
// Returns whether the message's proof is right, in a time that does not depend on the proof.
bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello);
bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
            const fkt_remote_answer& answer);

}  // namespace fkt::remote
