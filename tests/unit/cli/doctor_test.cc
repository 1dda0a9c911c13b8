// SPDX-License-Identifier: GPL-2.0-only
// Tests fkt_doctor on machines made of files.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/fkt_doctor/disk_speed.h"
#include "cli/fkt_doctor/doctor.h"
#include "lib/record/machine_checks.h"
#include "tests/unit/golden.h"

using namespace fkt;
using namespace fkt::test;
using doctor::Finding;
using doctor::Verdict;

namespace {

// A machine's files, below a folder that is removed at the end.
class Files {
 public:
  explicit Files(const char* name)
      : root_(std::filesystem::temp_directory_path() / (std::string("fkt_doctor_") + name)) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~Files() { std::filesystem::remove_all(root_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  Files& put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
    return *this;
  }
  // The finding about this.
  Finding about(const std::string& what, const char* release = "6.1.0",
                bool is_root = false) const {
    for (const Finding& finding : doctor::check_machine({root_, release, ".", is_root})) {
      if (finding.what == what) return finding;
    }
    throw std::runtime_error("nothing about " + what);
  }
  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

constexpr const char* kSteady = "flags : fpu constant_tsc nonstop_tsc\n";
constexpr const char* kSource = "sys/devices/system/clocksource/clocksource0/current_clocksource";
constexpr const char* kSecureBoot =
    "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

constexpr const char* kOptions =
    "CONFIG_TRACEPOINTS=y\nCONFIG_KPROBES=y\nCONFIG_KALLSYMS=y\n"
    "CONFIG_DYNAMIC_FTRACE_WITH_REGS=y\nCONFIG_UPROBES=y\n";

Files& make_good(Files& files) {
  return files.put("sys/module/fkt/initstate", "live")
      .put("dev/fkt", "")
      .put(kSource, "tsc\n")
      .put("proc/cpuinfo", kSteady)
      .put("sys/kernel/tracing/current_tracer", "nop\n")
      .put("sys/kernel/tracing/set_event", "")
      .put("sys/kernel/btf/vmlinux", "")
      .put("boot/config-6.1.0", kOptions);
}

}  // namespace

TEST_CASE("traced calls that have not returned are named with their tasks") {
  Files files("calls");
  make_good(files)
      .put("sys/module/fkt_calls/parameters/open", "2\n")
      .put("proc/7/task/7/comm", "nap\n")
      .put("proc/7/task/7/stack",
           "[<0>] do_nanosleep+0x67/0x190\n[<0>] fkt_calls_enter+0x3a/0x9b [fkt_calls]\n"
           "[<0>] hrtimer_nanosleep+0xbe/0x1a0\n[<0>] common_nsleep+0x4e/0x60\n"
           "[<0>] fkt_calls_enter_few+0x3a/0x9b [fkt_calls]\n[<0>] do_syscall_64+0x5c/0xc0\n")
      .put("proc/8/task/9/comm", "idle\n")
      .put("proc/8/task/9/stack", "[<0>] do_select+0x67/0x190\n");
  const Finding finding = files.about("fkt_calls", "6.1.0", true);
  CHECK(finding.verdict == Verdict::note);
  CHECK(finding.found ==
        "2 traced calls have not returned, and keep the module loaded: common_nsleep of nap (7), "
        "do_nanosleep of nap (7)");
  files.put("proc/7/task/7/stack", "");
  CHECK(files.about("fkt_calls").remedy == "sudo fkt_doctor says which tasks are in them");
  files.put("sys/module/fkt_calls/parameters/open", "0\n");
  CHECK_THROWS(files.about("fkt_calls"));
}

TEST_CASE("a machine that can record has nothing to remedy") {
  Files files("good");
  make_good(files);
  const auto findings = doctor::check_machine({files.root(), "6.1.0", "."});
  CHECK(findings.size() > 5);
  for (const Finding& finding : findings) {
    INFO(finding.what + ": " + finding.found);
    CHECK(finding.verdict == Verdict::good);
    CHECK(finding.remedy.empty());
  }
  const Ran ran = run_tool(cli::examine_machine, "fkt_doctor",
                           {"--root", files.root().string(), "--kernel", "6.1.0", "--no-disk"});
  CHECK(ran.status == 0);
  CHECK(ran.text.find("BLOCKED") == ran.text.npos);
}

TEST_CASE("without the module it says which step is next") {
  Files files("module");
  CHECK(files.about("module").remedy.find("linux-headers-6.1.0") != std::string::npos);
  files.put("lib/modules/6.1.0/build/Makefile", "");
  CHECK(files.about("module").remedy.starts_with("make &&"));
  files.put("lib/modules/6.1.0/extra/fkt.ko", "");
  CHECK(files.about("module").remedy == "sudo modprobe fkt");
  CHECK(files.about("module").verdict == Verdict::blocked);
  CHECK(files.about("device").verdict == Verdict::blocked);
  const Ran ran = run_tool(cli::examine_machine, "fkt_doctor",
                           {"--root", files.root().string(), "--kernel", "6.1.0", "--no-disk"});
  CHECK(ran.status == 1);
  CHECK(ran.text.find("BLOCKED module") != ran.text.npos);
  CHECK(ran.text.find("-> sudo modprobe fkt") != ran.text.npos);
}

TEST_CASE("bad news about the module is one line, with what to type") {
  Files files("news");
  const auto why = [&](const char* release = "6.1.0") {
    return doctor::why_no_device({files.root(), release, "."});
  };
  CHECK(why("5.10.0") ==
        "5.10.0: FKT needs 6.1 or newer (boot a newer one; fkt_record --user-only needs none)");
  CHECK(why() ==
        "fkt is not built for this kernel, whose headers are missing too (sudo apt install "
        "linux-headers-6.1.0, then make && sudo make install && sudo modprobe fkt)");
  files.put("lib/modules/6.0.9/extra/fkt.ko", "").put("lib/modules/6.1.0/build/Makefile", "");
  CHECK(why() ==
        "fkt is built for 6.0.9, not for this kernel; its headers are there (make && sudo make "
        "install && sudo modprobe fkt)");
  // By dkms.
  files.put("usr/src/fkt-0.1/dkms.conf", "");
  CHECK(why() ==
        "fkt is built for 6.0.9, not for this kernel (sudo dkms autoinstall && sudo modprobe fkt)");
  CHECK(why("6.12.1") ==
        "fkt is built for 6.0.9, not for this kernel, whose headers are missing (sudo apt install "
        "linux-headers-6.12.1 && sudo modprobe fkt)");
  files.put("var/lib/dkms/fkt/0.1/build/make.log",
            "DKMS make.log for fkt-0.1 for kernel 6.1.0 (x)\n");
  CHECK(why() ==
        "dkms could not build fkt for this kernel (less /var/lib/dkms/fkt/0.1/build/make.log)");
  CHECK(files.about("module").found == "dkms could not build fkt for this kernel");
  // Installed: keys.
  files.put("lib/modules/6.1.0/updates/dkms/fkt.ko", "");
  CHECK(why() == "fkt is installed, but not loaded (sudo modprobe fkt)");
  files.put("var/lib/dkms/mok.pub", "").put("sys/module/module/parameters/sig_enforce", "Y\n");
  CHECK(why() ==
        "module signatures are enforced: a module whose key is not enrolled is refused (sudo "
        "mokutil --import /var/lib/dkms/mok.pub, reboot, \"Enroll MOK\", sudo modprobe fkt)");
  files.put("boot/config-6.1.0", "CONFIG_TRACEPOINTS=y\nCONFIG_KALLSYMS=y\n");
  CHECK(why().starts_with("no CONFIG_KPROBES (the module cannot be built)"));
}

TEST_CASE("where the module is not built, loading it is not the next step") {
  Files files("unbuilt");
  CHECK(files.about("device").verdict == Verdict::blocked);
  CHECK(files.about("device").remedy.empty());
  files.put("lib/modules/6.1.0/extra/fkt.ko", "");
  CHECK(files.about("device").remedy == "sudo modprobe fkt");
  files.put("sys/module/fkt/initstate", "live");
  CHECK(files.about("device").remedy.find("modprobe") == std::string::npos);
}

TEST_CASE("a kernel that FKT is not made for") {
  Files files("kernel");
  for (const char* good : {"6.1", "6.1.0-56-amd64", "6.12.95+deb12-amd64", "7.3.4+deb13-amd64"}) {
    CHECK(files.about("kernel", good).verdict == Verdict::good);
  }
  for (const char* untested : {"6.18.44", "6.10.3", "6.2.0", "9.9", "10.0-rc1"}) {
    const Finding kernel = files.about("kernel", untested);
    CHECK(kernel.verdict == Verdict::note);
    CHECK(kernel.found == std::string(untested) + ": FKT is tested on 6.1, 6.12, 7.3");
  }
  for (const char* bad : {"6.0.9", "5.16.1", "6", "4.19"}) {
    const Finding kernel = files.about("kernel", bad);
    CHECK(kernel.verdict == Verdict::blocked);
    CHECK(kernel.found == std::string(bad) + ": FKT needs 6.1 or newer");
    CHECK(files.about("module", bad).remedy.empty());
  }
  // The README names the same kernels.
  const std::string readme = contents(golden() / "../../README.md");
  const std::string limits = readme.substr(readme.find("\n## Limits"));
  std::string versions;
  for (const std::string_view version : doctor::kKernels) {
    versions += (versions.empty()                     ? ""
                 : version == doctor::kKernels.back() ? " and "
                                                      : ", ") +
                std::string(version);
  }
  CHECK(limits.find("kernels " + versions) != std::string::npos);
}

TEST_CASE("a kernel without what FKT needs") {
  Files files("options");
  CHECK(files.about("options").verdict == Verdict::note);
  const std::string all = kOptions;
  files.put("boot/config-6.1.0", all);
  CHECK(files.about("options").verdict == Verdict::good);
  files.put("boot/config-6.1.0", all.substr(0, all.find("CONFIG_DYN")));
  CHECK(files.about("options").verdict == Verdict::note);
  CHECK(files.about("options").found.find("no CONFIG_UPROBES") != std::string::npos);
  files.put("boot/config-6.1.0", "# CONFIG_KPROBES is not set\n" + all.substr(21) + "\nX" + all);
  CHECK(files.about("options").verdict == Verdict::blocked);
}

TEST_CASE("what the loaded module cannot record here") {
  Files files("lacks");
  make_good(files);
  CHECK_THROWS(files.about("not shown"));
  files.put("sys/module/fkt/parameters/lacks", "the begin of NMIs\ntracepoint x\n");
  CHECK(files.about("not shown").found ==
        "this kernel does not show: the begin of NMIs, tracepoint x");
  files.put("sys/module/fkt/parameters/left_out", "a\nb\n");
  CHECK(files.about("not shown").found ==
        "this kernel does not show: the begin of NMIs, tracepoint x, "
        "the fields of 2 classes of tracepoints");
}

TEST_CASE("folders that are none are refused") {
  Files files("folders");
  files.put("file", "");
  const std::string file = (files.root() / "file").string();
  for (const char* option : {"--root", "--out"}) {
    const Ran none = run_tool(cli::examine_machine, "fkt_doctor", {option, "/no/such"});
    CHECK(none.status == 2);
    CHECK(none.text ==
          "fkt_doctor: " + std::string(option) + ": /no/such: no such file or directory\n");
    const Ran plain = run_tool(cli::examine_machine, "fkt_doctor", {option, file});
    CHECK(plain.status == 2);
    CHECK(plain.text == "fkt_doctor: " + std::string(option) + ": " + file + ": it is no folder\n");
  }
}

TEST_CASE("signatures: lockdown, enforcement, Secure Boot") {
  Files files("signatures");
  CHECK(files.about("signatures").verdict == Verdict::good);
  files.put(kSecureBoot, std::string("\x06\0\0\0\x01", 5));
  CHECK(files.about("signatures").found.find("Secure Boot") != std::string::npos);
  CHECK(files.about("signatures").verdict == Verdict::good);
  files.put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  CHECK(files.about("signatures").verdict == Verdict::blocked);
  files.put("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  files.put("sys/module/module/parameters/sig_enforce", "Y\n");
  CHECK(files.about("signatures").verdict == Verdict::blocked);
  CHECK(files.about("signatures").remedy.find("mokutil") != std::string::npos);
  files.put("sys/module/fkt/initstate", "live");
  CHECK(files.about("signatures").verdict == Verdict::good);
}

TEST_CASE("clock and other tracers are notes") {
  Files files("clock");
  CHECK(files.about("clock").remedy == "fkt_record --clock mono");
  files.put("proc/cpuinfo", kSteady).put(kSource, "hpet\n");
  CHECK(files.about("clock").found.find("hpet") != std::string::npos);
  CHECK(files.about("other tracers").remedy == "sudo fkt_doctor");
  CHECK(files.about("other tracers", "6.1.0", true).remedy ==
        "mount -t tracefs nodev /sys/kernel/tracing");
  files.put("sys/kernel/tracing/current_tracer", "function\n");
  files.put("sys/kernel/tracing/set_event", "sched:sched_switch\n");
  const Finding busy = files.about("other tracers");
  CHECK(busy.verdict == Verdict::note);
  CHECK(busy.found.find("function, ftrace's events are on") != std::string::npos);
  CHECK(busy.remedy ==
        "echo nop > /sys/kernel/tracing/current_tracer; echo > /sys/kernel/tracing/set_event");
}

TEST_CASE("other tracers: instances of ftrace, functions with probes, modules") {
  Files files("tracers");
  files.put("sys/kernel/tracing/current_tracer", "nop\n")
      .put("sys/kernel/tracing/set_event", "")
      .put("sys/kernel/tracing/enabled_functions", "")
      .put("sys/kernel/tracing/instances/mine/current_tracer", "nop\n")
      .put("sys/module/lttng_ring_buffer/refcnt", "0");
  CHECK(files.about("other tracers").verdict == Verdict::good);
  files.put("sys/kernel/tracing/enabled_functions", "vfs_read (1) R\nvfs_write (1) R\n");
  CHECK(files.about("other tracers").found ==
        "2 functions have probes (kprobes, BPF, ftrace): what is measured is slower");
  files.put("sys/kernel/tracing/instances/mine/set_event", "sched:sched_switch\n");
  CHECK(files.about("other tracers").found.starts_with("ftrace's instance mine: events are on, 2"));
  files.put("sys/module/lttng_tracer/refcnt", "0").put("sys/module/stap_1234/refcnt", "0");
  const Finding all = files.about("other tracers");
  CHECK(all.found.find("LTTng's modules are loaded") != std::string::npos);
  CHECK(all.remedy.find("rmmod stap_1234") != std::string::npos);
}

TEST_CASE("a tracer's module is found without tracefs") {
  Files files("modules");
  files.put("sys/module/scap/refcnt", "0");
  CHECK(files.about("other tracers").found.starts_with("sysdig's module scap is loaded"));
}

TEST_CASE("the disk: what its speed allows") {
  CHECK(doctor::judge_speed("/proc", 0, 0).verdict == Verdict::blocked);
  CHECK(doctor::judge_speed("/proc", 0, 0).found == "/proc: nothing can be written there");
  CHECK(doctor::judge_speed(".", 5e6, 1).verdict == Verdict::note);
  const Finding fast = doctor::judge_speed(".", 250e6, 4'000'000'000);
  CHECK(fast.verdict == Verdict::good);
  CHECK(fast.found == "250 MB/s, enough for 25.0 million events/s; 4.0 GB free");
  CHECK(doctor::disk_speed("/proc/no such folder", 1 << 20) == 0);
  CHECK(doctor::disk_speed(std::filesystem::temp_directory_path(), 1 << 20) > 0);
}

TEST_CASE("the manual page of fkt_doctor has every option") {
  CHECK(check_manual(cli::examine_machine, "fkt_doctor") > 4);
}
