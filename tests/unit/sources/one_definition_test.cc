// SPDX-License-Identifier: GPL-2.0-only
// Checks that no two classes of the sources have one name in one namespace. Compilers and linkers
// do not see it where each stands in another source file: all objects of the two may then run the
// functions of either one.
#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/golden.h"
#include "tests/unit/sources/tokens.h"

using namespace fkt::test;

namespace {

namespace fs = std::filesystem;

using ClassPlaces =
    std::map<std::string, std::set<std::string>>;  // the files of each one's definition

// Finds the definitions of classes and enumerations in named namespaces.
class ClassFinder {
 public:
  explicit ClassFinder(std::string_view text) : tokens_(tokens_of(text)) {
    while (at_ < tokens_.size()) next();
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string_view token(std::size_t at) const { return at < tokens_.size() ? tokens_[at] : ""; }

  // What a brace opens: a part of a qualified name; or something in which there are no names that
  // other files could have: a function, a namespace without a name.
  void open(std::string name, bool is_named) {
    scopes_.push_back({std::move(name), is_named && (scopes_.empty() || scopes_.back().is_named)});
  }

  void next() {
    const std::string_view word = token(at_);
    if (word == "namespace") return begin_namespace();
    if (word == "class" || word == "struct" || word == "union" || word == "enum")
      return begin_class();
    at_++;
    if (word == "{") open("", false);
    if (word == "}" && !scopes_.empty()) scopes_.pop_back();
  }

  void begin_namespace() {
    std::string name;
    for (at_++; token(at_) != "{" && token(at_) != ";" && token(at_) != "=" && at_ < tokens_.size();
         at_++)
      name += token(at_);
    if (token(at_) != "{") return;  // "using namespace std;"
    at_++;
    open(name + "::", !name.empty());
  }

  void begin_class() {
    const bool is_parameter = at_ > 0 && (token(at_ - 1) == "<" || token(at_ - 1) == ",");
    at_++;
    if (is_parameter) return;
    while (token(at_) == "class" || token(at_) == "struct" || token(at_) == "[") {
      while (token(at_) == "[" && at_ < tokens_.size()) {  // an attribute
        while (token(at_) != "]" && at_ < tokens_.size()) at_++;
        while (token(at_) == "]") at_++;
      }
      if (token(at_) == "class" || token(at_) == "struct") at_++;
    }
    std::string name;
    while (!token(at_).empty() && (is_word(token(at_)[0]) || token(at_) == "::")) {
      if (token(at_) != "final") name += token(at_);
      at_++;
    }
    // A definition has a brace, or bases and a brace, behind the name; a specialization is another.
    std::size_t end = at_;
    if (token(end) == ":") {
      while (end < tokens_.size() && token(end) != "{" && token(end) != ";") end++;
    }
    if (token(end) != "{") return;
    at_ = end + 1;
    open(name + "::", !name.empty());
    if (!scopes_.back().is_named) return;
    std::string whole;
    for (const Scope& scope : scopes_) whole += scope.name;
    names_.push_back(whole.substr(0, whole.size() - 2));
  }

  struct Scope {
    std::string name;
    bool is_named;
  };
  const std::vector<std::string_view> tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  std::vector<std::string> names_;
};

std::string defined_twice(const ClassPlaces& classes) {
  std::string twice;
  for (const auto& [name, files] : classes) {
    if (files.size() < 2) continue;
    twice += name + ':';
    for (const std::string& file : files) twice += ' ' + file;
    twice += '\n';
  }
  return twice;
}

std::vector<std::string> class_names_in(std::string_view text) {
  return ClassFinder(text).names();
}

}  // namespace

TEST_CASE("the definitions of classes are found in a source") {
  using Names = std::vector<std::string>;
  CHECK(class_names_in(
            "namespace a::b { class C { struct D {}; }; class E; enum class F : int { x }; }") ==
        Names{"a::b::C", "a::b::C::D", "a::b::F"});
  CHECK(class_names_in("namespace a { namespace { class C {}; } class D : public E<int> {}; }") ==
        Names{"a::D"});
  CHECK(class_names_in(
            "void f() { struct Local {}; }\nstruct [[nodiscard]] S final { int x = 1'000; };") ==
        Names{"S"});
  CHECK(class_names_in(
            "template <class T> struct X<T> {}; template <class T, class U> class Y {};\n"
            "// class Z {\n#define A \\\n class B {\nconst char* c = \"class D {\"; char d = '{';\n"
            "auto r = R\"(class E {)\"; /* class F { */ struct stat one; struct G* g() { }") ==
        Names{"Y"});
  CHECK(class_names_in("class A::B {}; struct { int x; } c; class D {};") == Names{"A::B", "D"});
}

TEST_CASE("no two classes have one name in one namespace") {
  ClassPlaces classes;
  std::size_t files = 0;
  for (const char* folder : {"lib", "cli", "user", "include"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FKT_SOURCE_DIR) / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cc") continue;
      files++;
      const std::string file = path.lexically_relative(FKT_SOURCE_DIR);
      for (const std::string& name : class_names_in(contents(path))) classes[name].insert(file);
    }
  }
  CHECK(files > 500);
  CHECK(classes.contains("fkt::TextWriter"));
  CHECK(defined_twice(classes) == "");
}
