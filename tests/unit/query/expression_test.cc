// SPDX-License-Identifier: GPL-2.0-only
// Tests the expression language: parsing, errors with their positions, matching of patterns.
#include <catch2/catch.hpp>

#include "lib/query/expression.h"

using namespace fkt;

namespace {

// The parsed tree with all parentheses.
std::string tree(const Expression& e, std::size_t at) {
  const ExpressionNode& node = e.nodes()[at];
  switch (node.kind) {
    case ExpressionNode::Kind::conjunction:
      return "(" + tree(e, node.left) + " and " + tree(e, node.right) + ")";
    case ExpressionNode::Kind::disjunction:
      return "(" + tree(e, node.left) + " or " + tree(e, node.right) + ")";
    case ExpressionNode::Kind::negation:
      return "not " + tree(e, node.left);
    case ExpressionNode::Kind::flag:
      return "flag " + node.field;
    case ExpressionNode::Kind::chance:
      return "1/" + std::to_string(node.value.number);
    case ExpressionNode::Kind::comparison:
      break;
  }
  const Literal& v = node.value;
  return node.field + " " + std::to_string(static_cast<int>(node.comparison)) + " " +
         (v.kind == Literal::Kind::number ? (v.negative ? "-" : "") + std::to_string(v.number)
                                          : v.text);
}

std::string tree(const char* text, ExpressionSyntax syntax = ExpressionSyntax::event,
                 std::size_t first_column = 1) {
  const Result<Expression> e = Expression::parse(text, syntax, first_column);
  return e ? tree(*e, e->nodes().size() - 1) : e.error().message;
}

}  // namespace

TEST_CASE("&& binds closer than ||, ! closest") {
  CHECK(tree("a == 1 || b == 2 && !c == 3") == "(a 0 1 or (b 0 2 and not c 0 3))");
  CHECK(tree("(a==1||b==2)&&!(c==3&&d==4)") == "((a 0 1 or b 0 2) and not (c 0 3 and d 0 4))");
  CHECK(tree("a == 1 && b == 2 && c == 3") == "((a 0 1 and b 0 2) and c 0 3)");
  CHECK(tree("!!a != 1") == "not not a 1 1");
}

TEST_CASE("values: numbers, times, errors, texts, words") {
  CHECK(tree("a < 42") == "a 2 42");
  CHECK(tree("a <= -7") == "a 3 -7");
  CHECK(tree("a > 0xFf") == "a 4 255");
  CHECK(tree("a >= 1.5ms") == "a 5 1.5ms");
  CHECK(tree("a == -ENOENT") == "a 0 -2");
  CHECK(tree("a == -ERESTARTSYS") == "a 0 -512");
  CHECK(tree("a ~ \"it's *\"") == "a 6 it's *");
  CHECK(tree("a !~ 'say \"x\"'") == "a 7 say \"x\"");
  CHECK(tree("task == find") == "task 0 find");
  CHECK(tree("a == 18446744073709551615") == "a 0 18446744073709551615");
}

TEST_CASE("what makes no sense is refused where it stands") {
  CHECK(tree("") == "column 1: the end where a field (as name, cpu, duration) should stand");
  CHECK(tree("cpu 2") == "column 5: \"2\" where an operator (as ==, <, ~) should stand");
  CHECK(tree("cpu = 2") == "column 5: \"=\" where an operator (as ==, <, ~) should stand");
  CHECK(tree("cpu ==") == "column 7: the end where a value should stand");
  CHECK(tree("cpu == 2 cpu") == "column 10: \"cpu\" where \"&&\", \"||\" or the end should stand");
  CHECK(tree("(cpu == 2") == "column 10: the end where \")\" should stand");
  CHECK(tree("cpu == 2)") == "column 9: \")\" where \"&&\", \"||\" or the end should stand");
  CHECK(tree("name == \"x") == "column 9: the quotation mark is never closed");
  CHECK(tree("a > 1xs") == "column 5: \"1xs\" is no number (as 42, 0x2a, 1.5ms, -ENOENT)");
  CHECK(tree("a > 1.5") == "column 5: \"1.5\" is no number (as 42, 0x2a, 1.5ms, -ENOENT)");
  CHECK(tree("a > -1ms") == "column 5: \"-1ms\" is no number (as 42, 0x2a, 1.5ms, -ENOENT)");
  CHECK(tree("a > 18446744073709551616").starts_with("column 5: "));
  CHECK(tree("a == -ENOENTT") ==
        "column 6: no error is called \"ENOENTT\"; did you mean \"ENOENT\"?");
  CHECK(tree((std::string(1000, '(') + "a == 1").c_str()).ends_with("nested too deeply"));
  std::string many = "a == 1";
  for (int i = 0; i < 2000; i++) many += " || a == 1";
  CHECK(tree(many.c_str()).ends_with("the expression is too long"));
}

TEST_CASE("conditions of instruments have paths, flags and chances") {
  const auto of_hit = [](const char* text) { return tree(text, ExpressionSyntax::hit, 11); };
  CHECK(of_hit("a.b->c[3] == 1") == "a.b->c[3] 0 1");
  CHECK(of_hit("ret < a.count") == "ret 2 a.count");
  CHECK(of_hit("a>-1") == "a 4 -1");
  CHECK(of_hit("inside && !(done || 1/100)") == "(flag inside and not (flag done or 1/100))");
  CHECK(of_hit("a == 1 b") == "column 18: \"b\" where \"&&\", \"||\" or the end should stand");
  CHECK(of_hit("a == x && 1/0") == "column 21: \"1/0\" is no chance: 1/1 to 1/65535 are");
  CHECK(of_hit("comm == \"do\"") == "comm 0 do");
  CHECK(of_hit("comm == do").starts_with("column 19: \"do\" begins the action"));
  CHECK(of_hit("inside && do").starts_with("column 21: \"do\" begins the action"));
  // Expressions on events have none of these.
  CHECK(tree("a.b == 1") == "column 2: \".\" where an operator (as ==, <, ~) should stand");
  CHECK(tree("inside") == "column 7: the end where an operator (as ==, <, ~) should stand");
  CHECK(tree("1/2") == "column 1: \"1\" where a field (as name, cpu, duration) should stand");
}

TEST_CASE("patterns") {
  CHECK(fits("ext4_sync", "ext4_*"));
  CHECK(fits("ext4_", "ext4_*"));
  CHECK_FALSE(fits("ext3_sync", "ext4_*"));
  CHECK(fits("", "*"));
  CHECK(fits("", ""));
  CHECK_FALSE(fits("a", ""));
  CHECK_FALSE(fits("", "?"));
  CHECK(fits("abcbc", "a*bc"));
  CHECK(fits("irq 14 ide0", "irq ?? *"));
  CHECK_FALSE(fits("irq 4 ide0", "irq ?? *"));
  CHECK(fits("aXbXc", "*X*X*"));
  CHECK_FALSE(fits("aXb", "*X*X*"));
  // The time is at most proportional to text length * pattern length.
  CHECK_FALSE(fits(std::string(10000, 'a'), "*a*a*a*a*b"));
}

TEST_CASE("a column is split off a message that has one") {
  const std::string said = at_column(12, "name: no event").message;
  std::string_view message = said;
  CHECK(take_column(message) == 12);
  CHECK(message == "name: no event");
  for (const char* other : {"", "column", "column x: y", "columns: 3", "name: column 3: y"}) {
    message = other;
    CHECK(take_column(message) == 0);
    CHECK(message == other);
  }
}
