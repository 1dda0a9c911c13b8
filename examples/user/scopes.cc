// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Events of a C++ program: spans that end with their block, whatever way it is left.
//
//   c++ -std=c++20 -O2 scopes.cc -o scopes && fkt_record --user-only ./scopes && fkt_kd
#include <fkt/user.h>

#include <stdexcept>
#include <string>

namespace {

int parse(const std::string& text) {
  FKT_USER_SCOPE("parse");
  FKT_USER_EVENT("input", FKT_UINT("length", text.size()), FKT_TEXT("text", text.c_str()));
  return std::stoi(text);
}

int total(int argc, char** argv) {
  FKT_USER_SCOPE("total");
  int sum = 0;
  for (int i = 1; i < argc; i++) {
    try {
      sum += parse(argv[i]);
    } catch (const std::invalid_argument&) {
      FKT_USER_EVENT("no number", FKT_INT("argument", i));
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%d\n", total(argc, argv));
}
