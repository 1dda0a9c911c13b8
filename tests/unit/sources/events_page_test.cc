// SPDX-License-Identifier: GPL-2.0-only
// Generates man/fkt-events.7 from the catalogue and the lists of layers, and compares.
// FKT_GOLDEN_WRITE=1 writes the file.
#include <catch2/catch.hpp>

#include <fkt/events.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lib/base/text_writer.h"
#include "lib/format/catalogue.h"
#include "lib/format/layer_mask.h"
#include "lib/instrument/layer_file.h"

using namespace fkt;

namespace {

std::string_view type_name(const Field& field) {
  static constexpr std::string_view kNames[] = {
      "u",       "s",         "d",     "x",      "addr",    "uaddr", "tid",      "cpu",
      "syscall", "syscall32", "irq",   "vector", "softirq", "trap",  "exitcode", "str",
      "dev",     "bytes",     "ticks", "ip4",    "ip6",     "port",  "stack",    "ustack"};
  const auto type = static_cast<std::size_t>(field.type);
  return type < std::size(kNames) ? kNames[type] : std::string_view(field.names);
}

std::string fields_text(const EventType& type) {
  std::string text;
  for (const Field& field : type.fields) {
    text += (text.empty() ? "" : ", ") + field.name + " (" + std::string(type_name(field)) + ")";
  }
  return text;
}

std::string role_text(const EventType& type) {
  switch (type.role) {
    case Role::begin:
      return "begins " + type.kind;
    case Role::end:
      return "ends " + type.kind;
    case Role::point:
      break;
  }
  return "";
}

void layer_table(TextWriter& out, const Catalogue& catalogue, const Layer& layer) {
  out.put(".SS Layer " + layer.name + ", bit " + std::to_string(layer.bit) + "\n");
  out.put(layer.text + "\n.TS\nl l l lx.\ncode\tname\twords\targuments\n");
  for (const EventType& type : catalogue.events()) {
    if (type.layer != layer.bit) continue;
    out.put("0x");
    out.hex_digits(type.id, 3);
    out.put('\t');
    out.put(type.name);
    out.put('\t');
    out.put(type.words ? std::to_string(*type.words) : "var");
    out.put("\tT{\n");
    const std::string role = role_text(type);
    const std::string fields = fields_text(type);
    out.put(fields + (!fields.empty() && !role.empty() ? "; " : "") + role);
    out.put("\nT}\n");
  }
  out.put(".TE\n");
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The values that an instrument records, by their names in the event.
std::string values_text(const Instrument& instrument) {
  std::string text;
  for (const FetchedValue& value : instrument.values) {
    text += (text.empty() ? "" : ", ") + (value.name.empty() ? value.path.text() : value.name);
  }
  return text;
}

// A layer whose events are those of the instruments in its list.
void list_table(TextWriter& out, const Layer& layer) {
  out.put(".SS Layer " + layer.name + ", bit " + std::to_string(layer.bit) + "\n");
  out.put(layer.text + "\n.TS\nl lx.\ninstrument\tvalues\n");
  const auto path = std::filesystem::path(FKT_SOURCE_DIR) / "layers" / (layer.name + ".layer");
  const Result<LayerFile> file = LayerFile::parse(read(path), path.string());
  REQUIRE(file);
  for (const LayerLine& line : file->lines) {
    const std::string& text = line.instrument.text;
    out.put((line.is_alternative ? "or " : "") + text.substr(0, text.find_first_of(" (")));
    out.put("\tT{\n" + values_text(line.instrument) + "\nT}\n");
  }
  out.put(".TE\n");
}

std::string page() {
  const Catalogue& catalogue = Catalogue::builtin();
  TextWriter out;
  out.put(R"('\" t
.\" SPDX-License-Identifier: GPL-2.0-only
.\" Made from include/fkt/events.def and layers/*.layer by tests/unit/sources/events_page_test.cc: do not edit.
.TH FKT-EVENTS 7 "" "FKT" "Fast Kernel Tracing"
.ad l
.SH NAME
fkt-events \- the layers and events that FKT records
.SH DESCRIPTION
Layers are switched on and off by their bits or names
.RB ( fkt_record (1),
.BR fkt_setmask (1)).
The layers system, process, fkt and user have events of their own, and so has instruments, the layer of
.BR "fkt_record \-i" .
The others are lists of instruments
(functions and tracepoints, see
.BR fkt_record (1)):
files that can be read, copied and changed;
.B fkt_record \-\-layers
says where they are. Their hits are the events call and tracepoint (see layer instruments), switched
by the bit of their own layer. An instrument with "or" before it is used on kernels that lack the one before it.
.PP
Each event has a code, which is never used again for another one, and a name; codes of one name are
forms of one event.
.I Words
is the number of 64-bit words after the event word: an event takes 8 bytes and 8 more for each.
Every recording carries this table, so that older and newer versions of
.BR fkt_print (1)
read it.
.PP
Arguments have a type in parentheses. Numbers are u (unsigned), s (signed) and x (hexadecimal). addr and uaddr are
addresses of the kernel and of user space, tid is a thread's number, syscall and syscall32 are numbers of system calls,
exitcode is as wait(2) gives it, str is text, ticks a duration, ip4 and ip6 are internet addresses and port a port, dev is a
device, bytes an array of bytes, stack and ustack are the addresses of a stack. function, user_function, tracepoint, instruction
and user are numbers whose names are in the recording; cpu, irq, vector, softirq and trap are what they say.
.PP
The codes of
.B switch
differ in the state in which the thread leaves: 0x400 runnable (R), 0x401 asleep (S), 0x402 asleep
and not to be disturbed (D), 0x403 stopped (T), 0x404 traced (t), 0x405 dead (X), 0x406 zombie (Z),
0x407 parked (P), 0x408 idle (I), 0x409 preempted (R+).
)");
  for (const Layer& layer : catalogue.layers()) {
    if (is_list_layer(layer.bit) && layer.bit != FKT_L_INSTRUMENTS) {
      list_table(out, layer);
    } else {
      layer_table(out, catalogue, layer);
    }
  }
  out.put(R"(.SH WHAT CANNOT BE OBSERVED
.IP \(bu 2
Page faults have a begin and no end: the kernel has no hook where they return.
.IP \(bu
Exceptions: most of them call the kernel's die notifiers, which FKT uses; floating point errors and general protection
faults of user programs are recorded by kprobes on two functions. These are not recorded: #NM, #UD of the kernel's own
WARN and BUG, kernel faults that an exception table repairs, breakpoints and single steps of kprobes or of a kernel
debugger, #DF, #CP, #VE, #VC, and those of Xen. Machine checks are recorded when the kernel logs them.
.IP \(bu
Vectors of the local APIC without a tracepoint: posted interrupts of KVM, callbacks of Hyper\-V and Xen.
.IP \(bu
A call in progress when its layer is switched on has no entry, and one in progress when it is switched off has no exit.
The tools count both kinds, and give neither a duration.
.IP \(bu
A kprobe that is hit inside the handler of another kprobe records nothing; the recording and each instrument count
such hits as missed.
.IP \(bu
If an entry and a whole call of one function are recorded, functions that FKT itself calls at the end of a page are not
recorded there.
.IP \(bu
Returns of functions of user programs: the kernel's return probes take 64 of a thread in each other, and none past a C++
exception or a change of stacks, which end such a program.
.PP
.BR fkt_record (1)
warns if the running kernel lacks one of the hooks; dmesg names the hook.
.SH QUESTIONS
Which layer has what I look for, and which instruments are in it?
.PP
.nf
$ fkt_record \-\-layers
 6 fs          /usr/local/share/fkt/layers/fs.layer: files: open, read, write, sync, look up, read ahead, write back; ext4 and xfs
11 block       /usr/local/share/fkt/layers/block.layer: block requests: queued, merged, issued, completed
.fi
.PP
(two of its lines). Which file and which sectors was the disk asked for, by which task?
.PP
.nf
$ fkt_record \-k fs,block \-\-no\-summary \-f fs.fkt sh w.sh
fkt_record: fs.fkt: 1,219 events, 81.9 kB, 67.2 bytes/event, 0 lost, drain 0.2 % of CPU time
$ fkt_print \-\-dump \-\-where 'name == "block_rq_issue"' fs.fkt
    0.163886028      31.5 us   1     140 jbd2/vda\-8        block_rq_issue rq=0xffff8d3f42e09f00, dev=vda, sector=1049552, bytes=24576, flags=0x9801, ino=0
$ fkt_print \-\-disks fs.fkt
$ fkt_print \-\-files fs.fkt
.fi
.PP
What is the code of an event? It stands before the name with
.BR fkt_print\~\-\-dump\~\-\-codes .
.SH SEE ALSO
.BR fkt_record (1),
.BR fkt_print (1),
.BR fkt\-file (5)
)");
  return std::string(out.view());
}

}  // namespace

TEST_CASE("fkt-events.7 is that of the catalogue", "[golden]") {
  const auto path = std::filesystem::path(FKT_SOURCE_DIR) / "man/fkt-events.7";
  if (std::getenv("FKT_GOLDEN_WRITE") != nullptr) std::ofstream(path, std::ios::binary) << page();
  CHECK(read(path) == page());
}
