// Traps, interrupts, limits and control registers.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/time.h>

#include "test/support/assembler.h"
#include "test/support/flat_machine.h"

using namespace shinken;
using namespace shinken::test;

namespace {

constexpr u64 kEntry = FlatMachine::kEntry;
constexpr u64 kVector = kRamBase + 0x300000;

/// A machine with `code` at its entry and an endless loop as trap handler.
struct Bare : FlatMachine {
  explicit Bare(const std::vector<u32>& code) {
    load(kEntry, code);
    load(kVector, std::vector<u32>(16, as::jal(0, 0)));
    state().stvec = kVector;
  }
  HartState& state() { return hart.state(); }
};

}  // namespace

TEST_CASE("run stops exactly at the limit, also within a block") {
  for (u64 limit = 1; limit <= 12; ++limit) {
    Bare machine(
        {as::addi(5, 5, 1), as::addi(5, 5, 1), as::addi(5, 5, 1), as::addi(5, 5, 1), as::jal(0, -16)});
    CHECK(machine.hart.run(limit) == HartExit::kLimit);
    CHECK(machine.state().instret == limit);
    CHECK(machine.x(5) == limit - limit / 5);
  }
}

TEST_CASE("an illegal instruction traps with its own bits") {
  Bare machine({as::kNop, 0xffffffff});
  machine.hart.run(2);
  CHECK(machine.state().scause == kIllegalInstruction);
  CHECK(machine.state().stval == 0xffffffff);
  CHECK(machine.state().sepc == kEntry + 4);
  CHECK(machine.state().pc == kVector);
  CHECK(machine.state().instret == 2);

  Bare compressed({0x00000000});
  compressed.hart.run(1);
  CHECK(compressed.state().scause == kIllegalInstruction);
  CHECK(compressed.state().stval == 0);
}

TEST_CASE("a hart that only traps still reaches its limit") {
  Bare machine({0});
  machine.state().stvec = 0;  // nothing there to fetch
  CHECK(machine.hart.run(1000) == HartExit::kLimit);
  CHECK(machine.state().scause == kFetchAccess);
}

TEST_CASE("ecall in user mode traps, in supervisor mode it calls the monitor") {
  Bare user({as::kEcall});
  user.state().mode = 0;
  user.hart.run(1);
  CHECK(user.state().scause == kEcallFromUser);
  CHECK(user.state().mode == 1);
  CHECK((user.state().sstatus & kSstatusSpp) == 0);

  Bare supervisor({as::kEcall});
  supervisor.x(17) = 0x4442434e;
  supervisor.x(16) = 2;
  supervisor.x(10) = 'A';
  supervisor.hart.run(1);
  CHECK(supervisor.bus.console == "A");
  CHECK(supervisor.x(10) == 0);
  CHECK(supervisor.state().pc == kEntry + 4);
}

TEST_CASE("user mode may not use what is the supervisor's") {
  for (const u32 word :
       {as::kSret, as::kWfi, as::kSfenceVma, as::csrrs(5, kCsrSstatus, 0), as::csrrs(5, kCsrSatp, 0),
        as::csrrs(5, kCsrTime, 0), as::csrrs(5, 0x300, 0), as::csrrw(0, kCsrCycle, 5)}) {
    CAPTURE(word);
    Bare machine({word});
    machine.state().mode = 0;
    machine.hart.run(1);
    CHECK(machine.state().scause == kIllegalInstruction);
    CHECK(machine.state().stval == word);
  }
  Bare allowed({as::csrrs(5, kCsrTime, 0)});
  allowed.state().mode = 0;
  allowed.state().scounteren = 2;
  allowed.state().skipped = 1000;
  allowed.hart.run(1);
  CHECK(allowed.x(5) == 1000);
}

TEST_CASE("registers keep only the bits that exist") {
  const auto written = [](u32 csr, u64 value) {
    Bare machine({as::csrrw(0, csr, 5), as::csrrs(6, csr, 0)});
    machine.x(5) = value;
    machine.hart.run(2);
    return machine.x(6);
  };
  CHECK(written(kCsrStvec, ~u64{0}) == ~u64{2});
  CHECK(written(kCsrSepc, 0x1001) == 0x1000);
  CHECK(written(kCsrSie, ~u64{0}) == 0x222);
  CHECK(written(kCsrSip, ~u64{0}) == 0x2);
  CHECK(written(kCsrSstatus, ~u64{0}) == 0x80000002000c6122);
  CHECK(written(kCsrSatp, u64{9} << 60 | 1) == 0);  // Sv48: ignored
  CHECK(written(kCsrSenvcfg, ~u64{0}) == 1);
  CHECK(written(kCsrScounteren, ~u64{0}) == 7);
}

TEST_CASE("floating point is illegal while FS is off, and makes FS dirty") {
  Bare off({encode::r(0x53, 1, 0, 2, 3, 1)});
  off.hart.run(1);
  CHECK(off.state().scause == kIllegalInstruction);
  Bare on({encode::r(0x53, 1, 0, 2, 3, 1)});
  on.state().sstatus = u64{1} << 13;
  on.hart.run(1);
  CHECK((on.state().sstatus & kSstatusFs) == kSstatusFs);
}

TEST_CASE("the timer interrupt comes at its very instruction, wherever in a block that is") {
  for (u64 at = 0; at < 70; ++at) {
    CAPTURE(at);
    std::vector<u32> code(80, as::addi(5, 5, 1));
    Bare machine(code);
    machine.state().sie = kInterruptTimer;
    machine.state().sstatus = kSstatusSie;
    machine.state().skipped = 7;
    machine.state().stimecmp = at + 7;
    machine.hart.run(75);
    CHECK(machine.state().scause == (kCauseInterrupt | 5));
    CHECK(machine.x(5) == at);
    CHECK(machine.state().sepc == kEntry + 4 * at);
  }
}

TEST_CASE("external goes before software goes before timer, and vectored mode spreads them") {
  Bare machine({as::kNop});
  machine.state().sie = kInterruptMask;
  machine.state().sstatus = kSstatusSie;
  machine.state().sip_soft = kInterruptSoftware;
  machine.state().stimecmp = 0;
  machine.state().stvec = kVector | 1;
  machine.hart.set_external_interrupt(true);
  machine.hart.run(1);
  CHECK(machine.state().scause == (kCauseInterrupt | 9));
  CHECK(machine.state().pc == kVector + 36);
  machine.hart.set_external_interrupt(false);
  machine.state().sstatus |= kSstatusSie;
  machine.hart.run(2);
  CHECK(machine.state().scause == (kCauseInterrupt | 1));
  machine.state().sip_soft = 0;
  machine.state().sstatus |= kSstatusSie;
  machine.hart.run(3);
  CHECK(machine.state().scause == (kCauseInterrupt | 5));
}

TEST_CASE("enabling interrupts takes one that is pending before the next instruction") {
  Bare machine({as::csrrs(0, kCsrSstatus, 5), as::addi(6, 6, 1)});
  machine.x(5) = kSstatusSie;
  machine.state().sie = kInterruptExternal;
  machine.hart.set_external_interrupt(true);
  machine.hart.run(10);
  CHECK(machine.x(6) == 0);
  CHECK(machine.state().sepc == kEntry + 4);
}

TEST_CASE("a device may raise the line in the middle of a block") {
  Bare machine({as::sd(0, 5, 0), as::addi(6, 6, 1)});
  machine.x(5) = FlatBus::kDevice;
  machine.state().sie = kInterruptExternal;
  machine.state().sstatus = kSstatusSie;
  machine.bus.on_write = [&machine](u64, u64) {
    CHECK(machine.state().instret == 0);
    machine.hart.set_external_interrupt(true);
  };
  machine.hart.run(10);
  CHECK(machine.x(6) == 0);
  CHECK(machine.state().sepc == kEntry + 4);
}

TEST_CASE("wfi waits until an enabled interrupt is pending, whatever SIE says") {
  Bare machine({as::kWfi, as::addi(6, 6, 1)});
  machine.state().sie = kInterruptTimer;
  machine.state().stimecmp = 100;
  CHECK(machine.hart.run(50) == HartExit::kWaiting);
  CHECK(machine.state().instret == 1);
  CHECK(machine.state().waiting == 1);
  CHECK(machine.hart.run(50) == HartExit::kWaiting);
  machine.state().skipped = 99;
  CHECK(machine.hart.run(2) == HartExit::kLimit);
  CHECK(machine.x(6) == 1);

  Bare pending({as::kWfi, as::addi(6, 6, 1)});
  pending.state().sie = kInterruptExternal;
  pending.hart.set_external_interrupt(true);
  CHECK(pending.hart.run(2) == HartExit::kLimit);
  CHECK(pending.x(6) == 1);
}

TEST_CASE("a requested exit returns at the next boundary") {
  Bare machine({as::csrrw(0, kCsrStimecmp, 5), as::addi(6, 6, 1), as::jal(0, 0)});
  machine.hart.request_exit();
  CHECK(machine.hart.run(100) == HartExit::kRequested);
  CHECK(machine.state().instret == 0);
  CHECK(machine.hart.run(100) == HartExit::kLimit);
  CHECK(machine.bus.timer_changes == 1);

  Bare device({as::sd(0, 5, 0), as::addi(6, 6, 1)});
  device.x(5) = FlatBus::kDevice;
  device.bus.on_write = [&device](u64, u64) { device.hart.request_exit(); };
  CHECK(device.hart.run(100) == HartExit::kRequested);
  CHECK(device.state().instret == 1);
  CHECK(device.x(6) == 0);
}

TEST_CASE("sret returns to the mode and interrupt state before the trap") {
  Bare machine({as::kSret});
  machine.state().sepc = kEntry + 0x100;
  machine.state().sstatus = kSstatusSpie;
  machine.hart.run(1);
  CHECK(machine.state().pc == kEntry + 0x100);
  CHECK(machine.state().mode == 0);
  CHECK((machine.state().sstatus & (kSstatusSie | kSstatusSpie)) == (kSstatusSie | kSstatusSpie));
}

namespace {

// For a signal handler: whom to interrupt, and how far it had come by its own account.
Hart* interrupted = nullptr;
volatile u64 instret_at_request = 0;

void interrupt(int) {
  instret_at_request = interrupted->state().instret;
  interrupted->request_exit();
}

}  // namespace

TEST_CASE("a request from outside ends a run within 2^14 instructions, interpreted or translated") {
  for (const Translation translation : {Translation::kNever, Translation::kAll}) {
    Bare machine({as::addi(5, 5, 1), as::jal(0, -4)});
    machine.hart.set_translation(translation);
    machine.hart.run(100);
    // A signal comes in the midst of the loop, on its own thread: what it reads is at most one look old.
    interrupted = &machine.hart;
    struct sigaction action{}, former{};
    action.sa_handler = interrupt;
    sigaction(SIGALRM, &action, &former);
    itimerval soon{{0, 0}, {0, 2000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    CHECK(machine.hart.run(~u64{0}) == HartExit::kRequested);
    sigaction(SIGALRM, &former, nullptr);
    CHECK(machine.state().instret >= instret_at_request);  // equal where a sanitizer delays the signal
    CHECK(machine.state().instret - instret_at_request <= 2 * (u64{1} << 14));
  }
}
