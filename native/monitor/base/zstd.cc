#include "monitor/base/zstd.h"

#include <dlfcn.h>

#include "monitor/base/error.h"

namespace shinken::zstd {
namespace {

/// Quick to write, and within a few percent of the slower levels on guest pages.
constexpr int kLevel = 3;

/// What we use of the library's stable interface, which has not changed since 1.0.
struct Library {
  std::size_t (*compress)(void* to, std::size_t room, const void* from, std::size_t size,
                          int level) = nullptr;
  std::size_t (*decompress)(void* to, std::size_t room, const void* from, std::size_t size) = nullptr;
  std::size_t (*bound)(std::size_t size) = nullptr;
  unsigned (*failed)(std::size_t result) = nullptr;
  bool whole = false;

  Library() {
#if defined(__APPLE__)
    constexpr const char* kNames[] = {"libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib"};
#else
    constexpr const char* kNames[] = {"libzstd.so.1"};
#endif
    void* handle = nullptr;
    for (const char* name : kNames) {
      if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (handle == nullptr) return;
    // SAFETY: these symbols have these types in every version whose soname is libzstd.so.1.
    whole = find(handle, "ZSTD_compress", &compress) && find(handle, "ZSTD_decompress", &decompress) &&
            find(handle, "ZSTD_compressBound", &bound) && find(handle, "ZSTD_isError", &failed);
  }

  template <typename Function>
  static bool find(void* handle, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle, name));
    return *function != nullptr;
  }
};

const Library& library() {
  // Never closed: what is mapped stays for as long as the process.
  static const Library found;
  return found;
}

const Library& needed() {
  if (!library().whole) {
    throw MonitorError(ErrorKind::kZstdMissing,
                       "this host has no libzstd.so.1 (Debian: apt-get install libzstd1)");
  }
  return library();
}

}  // namespace

bool available() {
  return library().whole;
}

std::vector<u8> compress(std::span<const u8> bytes) {
  const Library& zstd = needed();
  std::vector<u8> frame(zstd.bound(bytes.size()));
  const std::size_t size = zstd.compress(frame.data(), frame.size(), bytes.data(), bytes.size(), kLevel);
  if (zstd.failed(size)) throw MonitorError(ErrorKind::kNoMemory, "zstd could not compress");
  frame.resize(size);
  return frame;
}

bool decompress(std::span<const u8> frame, std::span<u8> to) {
  return needed().decompress(to.data(), to.size(), frame.data(), frame.size()) == to.size();
}

}  // namespace shinken::zstd
