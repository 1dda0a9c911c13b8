// SPDX-License-Identifier: GPL-2.0-only
// The secret that sender and receiver of a recording share, and how each proves that it knows it
// (include/fkt/remote.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <fkt/remote.h>

#include "lib/result.h"

namespace fkt::remote {

inline constexpr const char* kTokenVariable = "FKT_TOKEN";  // of the environment

class Token {
 public:
  // A new one: 128 random bits in hexadecimal.
  static Result<Token> fresh();
  // `text` as the user gave it, blanks around it taken off. `where`: the error's subject. An error
  // (code usage) if it is so short that it could be found by trying.
  static Result<Token> of(std::string_view text, const std::string& where);
  // The contents of a file.
  static Result<Token> read(const std::string& file);

  const std::string& text() const { return text_; }

 private:
  explicit Token(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

using Nonce = std::array<std::uint8_t, FKT_REMOTE_NONCE_BYTES>;
Result<Nonce> random_nonce();

// Sets the message's proof from its other fields, which must be set.
void prove(const Token& token, const Nonce& challenge, fkt_remote_hello& hello);
void prove(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
           fkt_remote_answer& answer);
// Is the message's proof the right one? Takes the same time whatever it is.
bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello);
bool proven(const Token& token, const Nonce& challenge, const fkt_remote_hello& hello,
            const fkt_remote_answer& answer);

}  // namespace fkt::remote
