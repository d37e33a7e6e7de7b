#include "monitor/devices/sbi.h"

#include <algorithm>

#include "monitor/memory/segments.h"

namespace shinken {
namespace {

constexpr i64 kSuccess = 0, kNotSupported = -2, kInvalidParameter = -3, kInvalidAddress = -5;
constexpr u64 kBase = 0x10, kTime = 0x54494d45, kReset = 0x53525354, kDebugConsole = 0x4442434e;
constexpr u64 kLegacySetTimer = 0, kLegacyPutchar = 1, kLegacyGetchar = 2, kLegacyShutdown = 8;
constexpr i64 kSpecVersion = 2 << 24;    // 2.0
constexpr i64 kImplementation = 0x5347;  // not a registered number
constexpr i64 kImplementationVersion = 1;

SbiResult ok(i64 value = 0) {
  return {kSuccess, value};
}
SbiResult error(i64 code) {
  return {code, 0};
}

bool known(u64 extension) {
  return extension == kBase || extension == kTime || extension == kReset || extension == kDebugConsole ||
         extension == kLegacySetTimer || extension == kLegacyPutchar || extension == kLegacyGetchar ||
         extension == kLegacyShutdown;
}

SbiResult base(u64 function, const u64* args) {
  switch (function) {
    case 0:
      return ok(kSpecVersion);
    case 1:
      return ok(kImplementation);
    case 2:
      return ok(kImplementationVersion);
    case 3:
      return ok(known(args[0]) ? 1 : 0);
    case 4:
    case 5:
    case 6:
      return ok(0);  // vendor, architecture, implementation of the hart: not assigned
    default:
      return error(kNotSupported);
  }
}

SbiResult debug_console(SbiHost& host, u64 function, const u64* args) {
  if (function == 2) {
    const u8 byte = static_cast<u8>(args[0]);
    host.console_write({&byte, 1});
    return ok();
  }
  if (function > 1) return error(kNotSupported);
  const u64 length = std::min(args[0], kMaxDebugConsoleBytes);
  const u64 address = args[1];
  if (args[2] != 0 || !host.memory().contains(address, length)) return error(kInvalidParameter);
  u64 done = 0;
  if (function == 0) {
    for_each_segment(host.memory(), address, length, MemoryAccess::kRead, [&](const u8* bytes, u64 n) {
      host.console_write({bytes, n});
      done += n;
    });
    return ok(static_cast<i64>(done));
  }
  for (; done < length; ++done) {
    const int next = host.console_read();
    if (next < 0) break;
    const u8 byte = static_cast<u8>(next);
    if (!write_guest(host.memory(), address + done, &byte, 1)) return error(kInvalidAddress);
  }
  return ok(static_cast<i64>(done));
}

}  // namespace

SbiResult sbi_call(SbiHost& host, u64 extension, u64 function, const u64 args[6]) {
  switch (extension) {
    case kBase:
      return base(function, args);
    case kTime:
      if (function != 0) return error(kNotSupported);
      host.set_timer(args[0]);
      return ok();
    case kReset: {
      const u32 type = static_cast<u32>(args[0]), reason = static_cast<u32>(args[1]);
      if (function != 0) return error(kNotSupported);
      if (type > 2 || reason > 1) return error(kInvalidParameter);
      host.system_reset(type, reason);
      return ok();
    }
    case kDebugConsole:
      return debug_console(host, function, args);
    // Legacy calls answer in a0 alone, so a1 is given back as it was.
    case kLegacySetTimer:
      host.set_timer(args[0]);
      return {kSuccess, static_cast<i64>(args[1])};
    case kLegacyPutchar: {
      const u8 byte = static_cast<u8>(args[0]);
      host.console_write({&byte, 1});
      return {kSuccess, static_cast<i64>(args[1])};
    }
    case kLegacyGetchar:
      return {host.console_read(), static_cast<i64>(args[1])};
    case kLegacyShutdown:
      host.system_reset(0, 0);
      return {kSuccess, static_cast<i64>(args[1])};
    default:
      return error(kNotSupported);
  }
}

}  // namespace shinken
