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
  // Returns a new token: 128 random bits in hexadecimal. Error (io): no random numbers.
  static Result<Token> fresh();
  // Returns a token of the user's `text`, without blanks around it. where: subject of errors. Error
  // (usage): the text is short enough to be guessed, or not printable text in one line.
  static Result<Token> of(std::string_view text, const std::string& where);
  // Reads a token from a file. Error (io): it cannot be read; (usage): as of().
  static Result<Token> read(const std::string& file);

  const std::string& text() const { return text_; }

 private:
  explicit Token(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

using Nonce = std::array<std::uint8_t, FKT_REMOTE_NONCE_BYTES>;
// Returns a number for one use. Error (io): no random numbers.
Result<Nonce> random_nonce();

// Set the message's proof, computed from its other fields, which must be set before. challenge: the
// nonce that the other side has sent.
void prove(const Token& token, const Nonce& challenge, fkt_remote_hello& hello);
void prove(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
           fkt_remote_answer& answer);
// Returns whether the message's proof is right, in a time that does not depend on the proof.
bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello);
bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
            const fkt_remote_answer& answer);

}  // namespace fkt::remote
