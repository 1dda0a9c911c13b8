# SPDX-License-Identifier: GPL-2.0-only
#
# The one door to everything: `make help` lists the targets. The tools are
# built by cmake below build/cmake, the module by the kernel's kbuild in
# module/, the virtual machine's own copies of it below build/vm.

RELEASE := $(shell uname -r)
KDIR ?= /lib/modules/$(RELEASE)/build
prefix ?= /usr/local
DESTDIR ?=
BUILD := $(CURDIR)/build
JOBS := $(shell nproc)
CMD ?= find /usr/share/doc
FUZZ_SECONDS ?= 60
BUILD_TYPE ?= Release
K ?= 6.1
# 0: every source file is compiled alone. CMake keeps what was chosen last.
UNITY ?=

# The release the module is built for: KDIR's, which need not be the running one.
kernel_release = $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' '$(KDIR)/include/generated/utsrelease.h' 2>/dev/null),$(RELEASE))
initramfs_dir = $(DESTDIR)/etc/initramfs-tools
modules_dir = $(DESTDIR)/lib/modules/$(kernel_release)/extra
tool_names = $(patsubst cli/%/main.cc,%,$(wildcard cli/fkt_*/main.cc))
man_pages = $(wildcard man/*.1 man/*.3 man/*.4 man/*.5 man/*.7)
# The kernel's code has the kernel's form.
cxx_sources = $(filter-out tests/unit/kernel/%,$(wildcard lib/*/*.h lib/*/*.cc cli/*/*.h cli/*/*.cc cli/*/*/*.h cli/*/*/*.cc tests/unit/*.h tests/unit/*.cc tests/unit/*/*.h tests/unit/*/*.cc tests/fuzz/*.h tests/fuzz/*.cc tests/golden/*.cc \
                         tests/bench/*.cc tests/browser/*.cc examples/*.cc examples/*/*.cc tests/user/*.cc))
scripts = packaging/setup packaging/make-deb packaging/initramfs/hook packaging/initramfs/init-top module/records/left-out module/base/features .ci/run tests/check-all tests/check-debug tests/check-kernels tests/check-long tests/parts.sh tests/model/run tests/browser/run tests/page/run tests/user/run tests/user/library tests/user/functions tests/user/births tests/user/rights tests/user/elsewhere tests/user/storm tests/library/run tests/fuzz/run tests/completion/run completions/fkt.bash tests/long/cases tests/long/sanitizers tests/long/single-files tests/long/never-return tests/long/packages tests/long/packages-guest web/build $(addprefix tests/vm/,run boot check alone demo in-guest get-kernel get-qemu powercut root-image often-used apt.sh build-module lib.sh faults.sh kft.sh reserving.sh) \
          $(wildcard tests/vm/cases/*) $(addprefix tests/bench/,run build-peer build-empty-probes) $(wildcard tests/bench/guest/*)

.PHONY: all help tools dev test case demo-tools module install install-tools static deb install-boot uninstall demo check check-kernels check-long check-unit check-golden check-model check-vm check-debug check-powercut \
        check-setup unit-tests check-sanitizers fuzz bench bench-readers lint lint-module format clean
.DEFAULT_GOAL := all

all: tools module  ## tools and module (KDIR=... for another kernel's headers)

help:  ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 14

# Release (-O2) unless BUILD_TYPE says otherwise; without the unit tests, which unit-tests builds.
$(BUILD)/cmake/CMakeCache.txt: CMakeLists.txt
	@echo "make: configuring the tools"
	@cmake -S . -B '$(BUILD)/cmake' -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE='$(BUILD_TYPE)' -DFKT_TESTS=OFF \
	    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY='$(BUILD)/bin' $(addprefix -DFKT_UNITY=,$(UNITY)) >'$(BUILD)/cmake.log' 2>&1 || \
	    { tail -20 '$(BUILD)/cmake.log'; echo 'make: the tools cannot be configured: packaging/setup build installs what they need' >&2; exit 1; }
	@touch '$@'

$(BUILD)/cmake/CMakeCache.txt: | $(BUILD)
$(if $(UNITY),.PHONY: $(BUILD)/cmake/CMakeCache.txt)
$(BUILD):
	@mkdir -p '$@'

tools: $(BUILD)/cmake/CMakeCache.txt  ## the tools alone, into build/bin
	@echo "make: building the tools"
	@MAKEFLAGS= cmake --build '$(BUILD)/cmake' -j$(JOBS) -- --no-print-directory -s

demo-tools: $(BUILD)/cmake/CMakeCache.txt
	@echo "make: building fkt_record and fkt_print"
	@MAKEFLAGS= cmake --build '$(BUILD)/cmake' -j$(JOBS) --target demo_tools -- --no-print-directory -s

# After the tools, so that they are there when the headers are not.
module: $(if $(filter module,$(MAKECMDGOALS)),,tools)  ## module/fkt.ko for KDIR
	@test -d '$(KDIR)' || { echo 'make: $(KDIR) is missing: install linux-headers-$(RELEASE), or name other headers with KDIR=...' >&2; exit 1; }
	@echo "make: building module/fkt.ko for $(kernel_release)"
	@$(MAKE) --no-print-directory -s -C '$(KDIR)' M='$(CURDIR)/module' CONFIG_DEBUG_INFO_BTF_MODULES= modules
	@sed -n 's|^#define FKT_LEFT_OUT_COUNT \([1-9].*\)|make: left out: the fields of \1 classes of tracepoints (module/records/left_out says why)|p' module/records/left_out

install: all install-tools  ## tools, library, man pages, module and udev rule (DESTDIR, prefix)
	@echo "make: installing into $(modules_dir)"
	@install -D -m 644 module/fkt.ko '$(modules_dir)/fkt.ko'
	@install -D -m 644 module/fkt_calls.ko '$(modules_dir)/fkt_calls.ko'
	@install -D -m 644 module/fkt_records.ko '$(modules_dir)/fkt_records.ko'
	@install -D -m 644 module/fkt_kft.ko '$(modules_dir)/fkt_kft.ko'
	@install -D -m 644 module/fkt_splices.ko '$(modules_dir)/fkt_splices.ko'
	@install -D -m 644 packaging/60-fkt.rules '$(DESTDIR)/etc/udev/rules.d/60-fkt.rules'
	@if [ -z '$(DESTDIR)' ]; then depmod '$(kernel_release)'; udevadm control --reload 2>/dev/null || true; fi

install-tools: tools  ## the same without module and rule, for a machine that only reads recordings
	@echo "make: installing into $(DESTDIR)$(prefix)"
	@DESTDIR='$(DESTDIR)' cmake --install '$(BUILD)/cmake' --prefix '$(prefix)' >/dev/null
	@for page in $(man_pages); do \
	    install -D -m 644 "$$page" "$(DESTDIR)$(prefix)/share/man/man$${page##*.}/$${page##*/}" || exit 1; done
	@for tool in $(tool_names); do \
	    install -D -m 644 completions/fkt.bash "$(DESTDIR)$(prefix)/share/bash-completion/completions/$$tool" || exit 1; done
	@install -D -m 644 completions/_fkt '$(DESTDIR)$(prefix)/share/zsh/site-functions/_fkt'

static:  ## fkt_record and fkt_print that need no library, for older or small machines, into build/static/bin
	@packaging/setup build
	@cmake -S . -B '$(BUILD)/static' -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release -DFKT_STATIC=ON -DFKT_TESTS=OFF \
	    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY='$(BUILD)/static/bin' >'$(BUILD)/static.log' 2>&1 || { tail -20 '$(BUILD)/static.log'; exit 1; }
	@MAKEFLAGS= cmake --build '$(BUILD)/static' -j$(JOBS) --target fkt_record fkt_print -- --no-print-directory -s

deb:  ## Debian packages of tools, modules and libraries, into build/deb
	@packaging/setup build web deb
	@packaging/make-deb

install-boot:  ## what records the machine's start, for initramfs-tools (man 7 fkt-boot)
	@install -D -m 755 packaging/initramfs/hook '$(initramfs_dir)/hooks/fkt'
	@install -D -m 755 packaging/initramfs/init-top '$(initramfs_dir)/scripts/init-top/fkt'
	@if [ -z '$(DESTDIR)' ]; then echo 'make: update-initramfs -u makes an initramfs with it'; fi

uninstall:  ## removes what install put there
	@echo "make: removing FKT from $(DESTDIR)$(prefix) and $(modules_dir)"
	@rm -f $(patsubst %,'$(DESTDIR)$(prefix)/bin/%',$(tool_names))
	@for page in $(man_pages); do rm -f "$(DESTDIR)$(prefix)/share/man/man$${page##*.}/$${page##*/}"; done
	@rm -f $(patsubst %,'$(DESTDIR)$(prefix)/share/bash-completion/completions/%',$(tool_names)) '$(DESTDIR)$(prefix)/share/zsh/site-functions/_fkt'
	@rm -rf '$(DESTDIR)$(prefix)/include/fkt' '$(DESTDIR)$(prefix)/lib/cmake/fkt' '$(DESTDIR)$(prefix)/share/fkt'
	@rm -f '$(DESTDIR)$(prefix)'/lib/libfkt-user.so* '$(DESTDIR)$(prefix)/lib/libfkt-func.so' '$(DESTDIR)$(prefix)/lib/libfkt.a' '$(DESTDIR)$(prefix)/lib/pkgconfig/fkt.pc'
	@rm -f '$(modules_dir)/fkt.ko' '$(modules_dir)/fkt_calls.ko' '$(modules_dir)/fkt_records.ko' '$(modules_dir)/fkt_kft.ko' '$(modules_dir)/fkt_splices.ko' '$(DESTDIR)/etc/udev/rules.d/60-fkt.rules'
	@rm -f '$(initramfs_dir)/hooks/fkt' '$(initramfs_dir)/scripts/init-top/fkt'
	@if [ -z '$(DESTDIR)' ]; then depmod '$(kernel_release)'; fi

demo:  ## all set-up, then a recording of CMD='find /usr/share/doc' in the virtual machine
	@packaging/setup build module vm
	@tests/vm/get-kernel 6.1 & $(MAKE) --no-print-directory demo-tools; built=$$?; wait $$! && exit $$built
	@tests/vm/build-module 6.1 >/dev/null
	@echo "make: booting the virtual machine"
	@tests/vm/run --kernel 6.1 --timeout 600 --out '$(BUILD)/demo' -- tests/vm/demo '$(subst ','\'',$(CMD))'
	@echo "make: the recording is build/demo/demo.fkt: build/bin/fkt_print build/demo/demo.fkt | less"

# The kernels and the emulator are fetched, and the modules built, while the tools are configured, compiled and linked,
# which does not always need all CPUs.
check-setup:
	@packaging/setup build web module vm check
	@{ for kernel in 6.1 6.12 7.3; do tests/vm/get-kernel $$kernel && MAKEFLAGS= tests/vm/build-module $$kernel >/dev/null || exit 1; done; \
	    tests/vm/get-qemu >/dev/null; } & \
	    $(MAKE) --no-print-directory unit-tests; built=$$?; wait $$! && exit $$built

# For editing: in build/dev, so that the build for use and for `make check` stays as it is. Without optimization clang takes
# half of gcc's time.
DEV := $(BUILD)/dev
$(DEV)/build.ninja: CMakeLists.txt CMakePresets.json | $(BUILD)
	@packaging/setup build dev check
	@echo "make: configuring build/dev"
	@cmake --preset dev $(if $(shell command -v clang++),-DCMAKE_CXX_COMPILER=clang++) $(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache) \
	    >'$(DEV).log' 2>&1 || { tail -20 '$(DEV).log'; exit 1; }
	@ln -sf build/dev/compile_commands.json compile_commands.json
	@touch '$@'

dev: $(DEV)/build.ninja  ## the tools for editing, into build/dev/bin: Debug, each file compiled alone
	@ninja --quiet -C '$(DEV)' $(tool_names)

test:  ## one file of unit tests: make test T=expression_test
	@room=$$(basename "$$(dirname tests/unit/*/'$(T).cc')"); \
	    [ -f "tests/unit/$$room/$(T).cc" ] || { echo 'make: no tests/unit/*/$(T).cc: name one with T=..., for example T=expression_test' >&2; exit 1; }; \
	    $(MAKE) --no-print-directory '$(DEV)/build.ninja' && \
	    ninja --quiet -C '$(DEV)' "unit_$$room" && '$(DEV)'/unit_$$room --filenames-as-tags '[#$(T)]'

case:  ## one case in the virtual machine: make case C=marks K=6.12
	@[ -f 'tests/vm/cases/$(C)' ] || { echo 'make: no tests/vm/cases/$(C): name one with C=..., for example C=marks' >&2; exit 1; }
	@packaging/setup build module vm check
	@tests/vm/get-kernel '$(K)'
	@$(MAKE) --no-print-directory tools
	@cmake -DFKT_TESTS=ON '$(BUILD)/cmake' >'$(BUILD)/cmake.log' 2>&1 || { tail -20 '$(BUILD)/cmake.log'; exit 1; }
	@MAKEFLAGS= cmake --build '$(BUILD)/cmake' -j$(JOBS) --target guest_programs -- --no-print-directory -s
	@tests/vm/alone --kernel '$(K)' -- '$(C)'

unit-tests: tools
	@cmake -DFKT_TESTS=ON '$(BUILD)/cmake' >'$(BUILD)/cmake.log' 2>&1 || { tail -20 '$(BUILD)/cmake.log'; exit 1; }
	@echo "make: building the unit tests"
	@MAKEFLAGS= cmake --build '$(BUILD)/cmake' -j$(JOBS) -- --no-print-directory -s

check: check-setup  ## all set-up, then every test; the last line counts them
	@tests/check-all

check-kernels:  ## compiles the modules for every kernel that Debian offers, of tests/kernels.tsv (an hour, 3 GB)
	@packaging/setup build module vm
	@tests/check-kernels

check-long: unit-tests  ## what takes longer: 10^8 events, the model with larger bounds, power cuts, an hour of any calls, other kernels
	@packaging/setup build module vm check debug peers deb
	@for kernel in 6.1 6.12 7.3 6.1-rt 6.1-cloud 6.1-debug 7.3-debug; do tests/vm/get-kernel $$kernel || exit 1; done
	@tests/check-long

check-unit: unit-tests  ## unit tests and golden files: neither root nor module needed
	@ctest --test-dir '$(BUILD)/cmake' --output-on-failure

check-golden: unit-tests  ## the golden files alone
	@ctest --test-dir '$(BUILD)/cmake' --output-on-failure -R golden

check-sanitizers:  ## the same, built with address and undefined-behaviour sanitizers
	@packaging/setup build web check
	@tests/long/sanitizers

check-model:  ## the ring's model, every interleaving of it (1 to 3 minutes)
	@packaging/setup check
	@tests/model/run

check-vm: unit-tests  ## the cases in the virtual machine, on the three kernels
	@tests/vm/check

check-powercut: unit-tests  ## 20 power cuts at random moments on each kernel (15 minutes)
	@tests/vm/powercut --mount --kernel 6.1 --kernel 6.12 --kernel 7.3 60

check-debug:  ## the same on kernels with KASAN, lockdep, failing allocations, kmemleak, KCSAN, built first (hours)
	@packaging/setup build module vm check debug
	@for kernel in 6.1-debug 7.3-debug 6.1-kcsan; do tests/vm/get-kernel $$kernel || exit 1; done
	@$(MAKE) --no-print-directory unit-tests
	@tests/check-debug

fuzz:  ## all that reads bytes, under libFuzzer, each for FUZZ_SECONDS=60
	@packaging/setup build check
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' tests/fuzz/run

bench:  ## the figures, with the peers measured in the same boot
	@packaging/setup build module vm bench
	@tests/vm/get-kernel 6.1
	@$(MAKE) --no-print-directory tools
	@tests/bench/run
	@tests/bench/readers
	@tests/bench/user

bench-readers: tools  ## of them, how fast recordings are read (no virtual machine)
	@packaging/setup build bench
	@tests/bench/readers

# What checkpatch cannot know: lists that are macros, and that compat.h is where versions are told apart.
not_for_checkpatch = COMPLEX_MACRO,MULTISTATEMENT_MACRO_USE_DO_WHILE,TRAILING_SEMICOLON
not_for_checkpatch := $(not_for_checkpatch),LINUX_VERSION_CODE,CONSTANT_COMPARISON,NEW_TYPEDEFS
# It takes pointers to const for constants, and a macro's ## for a name.
not_for_checkpatch := $(not_for_checkpatch),INIT_ATTRIBUTE,FUNCTION_ARGUMENTS
run_checkpatch = '$(checkpatch)' --no-tree --terse --max-line-length=120 --ignore $(not_for_checkpatch)
# checkpatch does not know <names> in macros and in __has_include.
lists_of_headers = module/records/core.c module/records/io.c
with_assembly = tests/vm/modules/override.c

# checkpatch reports long lines of patches only. Texts are not broken, so that they can be found.
module_sources = $(wildcard $(foreach room,* arch/* arch/*/*,module/$(room)/*.[chS]))
kernel_sources = $(module_sources) $(wildcard include/fkt/*.h tests/vm/modules/*.c)

lint:  ## formatting and scripts; nothing is changed
	@echo "make: checking the C++ formatting"
	@echo $(cxx_sources) | xargs -P $(JOBS) -n 40 clang-format --dry-run -Werror
	@echo "make: checking that clang, which compiles the fuzz targets, takes what gcc does"
	@ls -d lib/*/ cli/base/ cli/fkt_selection/ | xargs -P $(JOBS) -I FOLDER sh -c '! ls FOLDER*.cc >/dev/null 2>&1 || \
	    printf "#include \"%s\"\n" FOLDER*.cc | clang++ -x c++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I. -Iinclude -'
	@echo "make: checking the scripts"
	@echo $(scripts) | xargs -P $(JOBS) -n 8 shellcheck -x
	@shellcheck -s sh tests/vm/guest-init
	@echo "make: checking the width of the C sources"
	@for file in $(kernel_sources); do expand "$$file" | awk -v file="$$file" 'length > 120 && !/^ *"/ && !/pr_(err|warn|info)\(/ \
	    { print file ":" FNR ": longer than 120 columns"; bad = 1 } END { exit bad }' || bad=1; done; [ -z "$$bad" ]
	@if [ -n '$(checkpatch)' ]; then $(MAKE) --no-print-directory lint-module; \
	    else echo "make: no checkpatch.pl, module/ is not checked: tests/vm/get-kernel 6.1-debug has one, or name it with CHECKPATCH=..."; fi

# Debian has checkpatch.pl in the kernel's source alone, which 6.1-debug is built from.
CHECKPATCH ?=
checkpatch = $(or $(CHECKPATCH),$(shell command -v checkpatch.pl),$(firstword $(wildcard $(BUILD)/vm/*-debug/kdir/scripts/checkpatch.pl)))

lint-module:  ## checkpatch on module/
	@[ -n '$(checkpatch)' ] || { echo "make: no checkpatch.pl: tests/vm/get-kernel 6.1-debug has one, or name it with CHECKPATCH=..." >&2; exit 1; }
	@echo "make: checking module/"
	@perl $(run_checkpatch) -f $(filter-out $(lists_of_headers) $(with_assembly) %.S,$(module_sources) $(wildcard tests/vm/modules/*.c))
	@perl $(run_checkpatch),SPACING -f $(lists_of_headers)
	@perl $(run_checkpatch),AVOID_EXTERNS,LEADING_SPACE -f $(with_assembly)

format:  ## formats the C++ sources and those of the page in place
	@clang-format -i $(cxx_sources)
	@tests/page/run '$(BUILD)/page' format

# The unpacked kernels stay: they are downloads, and `rm -r build` removes them.
clean:  ## removes what was built, but not the kernels that were fetched
	@rm -rf '$(BUILD)'/bin '$(BUILD)'/cmake '$(BUILD)'/dev '$(BUILD)'/dev-sanitize compile_commands.json '$(BUILD)'/cmake-fuzz '$(BUILD)'/cmake-sanitize '$(BUILD)'/cmake-single '$(BUILD)'/demo '$(BUILD)'/*.log '$(BUILD)'/vm/check '$(BUILD)'/vm/*/src
	@cd module && rm -rf .tmp_versions modules.order Module.symvers *.ko *.mod *.mod.c records/left_out base/kernel_has .module-common.* && \
	    find . -name "*.o" -delete -o -name ".*.cmd" -delete
