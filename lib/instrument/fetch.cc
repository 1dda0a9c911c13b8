// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/fetch.h"

#include <limits>

#include "lib/base/suggest.h"
#include "lib/query/expression.h"

namespace fkt {
namespace {

constexpr std::size_t kMostPointers = 8;

class PathWalker {
 public:
  PathWalker(const Btf& btf, const FetchRoot& root, const FieldPath& path)
      : btf_(btf), root_(root), path_(path), type_(root.type) {
    fetch_.index = root.word;
  }

  Result<Fetch> walk(TextRule text) {
    column_ = path_.column;
    shown_ = path_.root;
    for (const FieldPath::Step& step : path_.steps) {
      column_ = step.column;
      FKT_TRY(!step.structure.empty() ? structure(step.structure)
              : step.member.empty()   ? index(step.index)
                                      : member(step.member));
      shown_ += step.text();
    }
    FKT_TRY(end(text));
    fetch_.type = type_;
    return std::move(fetch_);
  }

 private:
  Error wrong(const std::string& what) const { return at_column(column_, what); }
  std::string what_it_is() const { return shown_ + " is " + btf_.name(type_); }

  // Makes what the pointer points to the place in memory.
  Status follow(const Type& pointer) {
    if (btf_.type(pointer.target).kind == TypeKind::incomplete) {
      return wrong(what_it_is() + ": what it points to is not described");
    }
    const Status loaded = load_pointer();
    type_ = pointer.target;
    return loaded;
  }

  Status load_pointer() {
    if (in_memory_) {
      if (fetch_.pointers.size() == kMostPointers) {
        return wrong("too many pointers on the way: at most " + std::to_string(kMostPointers));
      }
      fetch_.pointers.push_back(static_cast<std::int32_t>(bit_ / 8));
    } else {
      fetch_.index = static_cast<std::uint8_t>(root_.word + bit_ / 64);
    }
    in_memory_ = true;
    bit_ = 0;
    return Done{};
  }

  Status advance(std::uint64_t bits) {
    bit_ += bits;
    if (bit_ / 8 <= std::numeric_limits<std::int32_t>::max()) return Done{};
    return wrong("too far away");
  }

  Status member(const std::string& name) {
    const Type type = btf_.type(type_);
    if (type.kind == TypeKind::pointer) {
      FKT_TRY(follow(type));
    }
    const std::optional<Member> found = bits_ == 0 ? btf_.member(type_, name) : std::nullopt;
    if (!found) return no_member(name);
    type_ = found->type;
    bits_ = found->bits;
    return advance(found->bit);
  }

  // Makes the structure to which the pointer leads the place in memory.
  Status structure(const std::string& name) {
    if (bits_ != 0 || btf_.type(type_).kind != TypeKind::pointer) {
      return wrong(what_it_is() + ", no pointer");
    }
    const std::optional<TypeId> found = btf_.structure(name);
    if (!found) return wrong("no structure is called \"" + name + "\"");
    const Status loaded = load_pointer();
    type_ = *found;
    return loaded;
  }

  Error no_member(const std::string& name) const {
    if (btf_.type(type_).kind != TypeKind::structure) {
      return wrong(shown_ + " has no members: it is " + btf_.name(type_));
    }
    return wrong(btf_.name(type_) + " has no member \"" + name + "\"" +
                 did_you_mean(name, btf_.members(type_)));
  }

  Status index(std::uint32_t number) {
    const Type type = btf_.type(type_);
    if (type.kind != TypeKind::pointer && type.kind != TypeKind::array) {
      return wrong(what_it_is() + ": it has no elements");
    }
    const std::uint64_t bytes = btf_.type(type.target).bytes;
    if (bytes == 0) return wrong(what_it_is() + ": the size of its elements is not known");
    if (type.kind == TypeKind::pointer) {
      FKT_TRY(follow(type));
    } else if (type.count != 0 && number >= type.count) {
      return wrong(what_it_is() + ": the last element is [" + std::to_string(type.count - 1) + "]");
    } else {
      type_ = type.target;
    }
    return advance(number * bytes * 8);
  }

  Status end(TextRule text) {
    const Type type = btf_.type(type_);
    const bool is_text = text == TextRule::always
                             ? btf_.may_be_text(type_)
                             : text == TextRule::by_type && btf_.is_text(type_);
    if (text == TextRule::always && !is_text) {
      return at_column(path_.column, what_it_is() + ", no text");
    }
    if (is_text && type.kind == TypeKind::array) return text_in_place(type);
    fetch_.is_text = is_text;
    if (is_text && type.kind == TypeKind::pointer) {
      const Type target = btf_.type(type.target);
      if (target.kind == TypeKind::array) {
        fetch_.text_bytes = static_cast<std::uint32_t>(target.bytes);
      }
    }
    switch (type.kind) {
      case TypeKind::integer:
      case TypeKind::enumeration:
      case TypeKind::pointer:
        if (type.bytes <= 8) return number(type);
        break;
      case TypeKind::structure:
        return at_column(path_.column, what_it_is() + ": name one of its members" + some_members());
      case TypeKind::array:
        return at_column(path_.column, what_it_is() + ": name one of its elements (as [0])");
      case TypeKind::none:
        return at_column(path_.column, shown_ + " has no value: it is void");
      default:
        break;
    }
    return at_column(path_.column, what_it_is() + ", which cannot be read as a number");
  }

  std::string some_members() const {
    constexpr std::size_t kMost = 4;
    const std::vector<std::string> names = btf_.members(type_);
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < kMost; i++) {
      list += (i == 0 ? " (as ." : ", .") + names[i];
    }
    return list.empty() ? "" : list + ")";
  }

  // The array's own address is the text's.
  Status text_in_place(const Type& array) {
    if (!in_memory_) return at_column(path_.column, what_it_is() + ", and not in memory");
    fetch_.is_text = true;
    fetch_.text_bytes = static_cast<std::uint32_t>(array.bytes);
    fetch_.offset = static_cast<std::int32_t>(bit_ / 8);
    return Done{};
  }

  Status number(const Type& type) {
    const auto width = static_cast<std::uint8_t>(bits_ != 0 ? bits_ : type.bytes * 8);
    fetch_.bits = width;
    fetch_.is_signed = type.is_signed;
    unsigned shift = 0;  // of the value in what is loaded
    if (in_memory_) {
      const std::uint64_t load = bytes_to_load(width);
      fetch_.load = static_cast<std::uint8_t>(load);
      fetch_.offset = static_cast<std::int32_t>(bit_ / (load * 8) * load);
      if (bits_ == 0) fetch_.offset = static_cast<std::int32_t>(bit_ / 8);
      shift = static_cast<unsigned>(bit_ - static_cast<std::uint64_t>(fetch_.offset) * 8);
    } else {
      fetch_.index = static_cast<std::uint8_t>(root_.word + bit_ / 64);
      shift = bit_ % 64;
    }
    const unsigned loaded = in_memory_ ? fetch_.load * 8U : 64U;
    // A load without signs fills up with zeros by itself.
    if (width == loaded && (in_memory_ ? !type.is_signed || width == 64 : true)) return Done{};
    if (shift + width > 64) return at_column(path_.column, what_it_is() + ", in two words");
    fetch_.left = static_cast<std::uint8_t>(64 - shift - width);
    fetch_.right = static_cast<std::uint8_t>(64 - width);
    return Done{};
  }

  // A bit field is read with the smallest aligned word around it: that is within the structure.
  std::uint64_t bytes_to_load(unsigned width) const {
    if (bits_ == 0) return width / 8;
    std::uint64_t bytes = 1;
    while (bytes < 8 && bit_ / (bytes * 8) != (bit_ + width - 1) / (bytes * 8)) bytes *= 2;
    return bytes;
  }

  const Btf& btf_;
  const FetchRoot& root_;
  const FieldPath& path_;
  Fetch fetch_;
  TypeId type_;
  std::uint32_t bits_ = 0;  // of the bit field that the path has come to; 0: none
  std::uint64_t bit_ = 0;   // from the last pointer, or from the first register's begin
  bool in_memory_ = false;  // false: in registers
  std::size_t column_ = 0;  // of the step
  std::string shown_;       // the path so far
};

}  // namespace

Result<Fetch> resolve_path(const Btf& btf, const FetchRoot& root, const FieldPath& path,
                           TextRule text) {
  return PathWalker(btf, root, path).walk(text);
}

fkt_insn with_operand(fkt_op op, const Fetch& fetch) {
  fkt_insn insn{};
  insn.op = static_cast<__u8>(op);
  insn.offset = fetch.offset;
  insn.load = fetch.load;
  insn.left = fetch.left;
  insn.right = fetch.right;
  insn.how = static_cast<__u8>(fetch.pointers.empty() ? fetch.from : FKT_FROM_POP);
  if (fetch.pointers.empty()) {
    insn.index = fetch.index;
    insn.size = fetch.parameter;
  }
  if (fetch.offset != 0 || fetch.load != 0 || fetch.right != 0) insn.how |= FKT_HOW_FETCH;
  if (fetch.is_signed && fetch.right != 0) insn.how |= FKT_HOW_SIGNED;
  return insn;
}

}  // namespace fkt
