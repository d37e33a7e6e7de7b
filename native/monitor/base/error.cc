#include "monitor/base/error.h"

namespace shinken {

const char* error_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidConfig:
      return "invalid_config";
    case ErrorKind::kFile:
      return "file";
    case ErrorKind::kBadProgram:
      return "bad_program";
    case ErrorKind::kBadInitrd:
      return "bad_initrd";
    case ErrorKind::kBusy:
      return "busy";
    case ErrorKind::kClosed:
      return "closed";
    case ErrorKind::kNoMemory:
      return "no_memory";
    case ErrorKind::kHostUnsupported:
      return "host_unsupported";
    case ErrorKind::kGoldenTruncated:
      return "golden_truncated";
    case ErrorKind::kGoldenMagic:
      return "golden_magic";
    case ErrorKind::kGoldenVersion:
      return "golden_version";
    case ErrorKind::kGoldenAbi:
      return "golden_abi";
    case ErrorKind::kGoldenHeader:
      return "golden_header";
    case ErrorKind::kGoldenState:
      return "golden_state";
    case ErrorKind::kGoldenIndex:
      return "golden_index";
    case ErrorKind::kGoldenChunk:
      return "golden_chunk";
    case ErrorKind::kGoldenPage:
      return "golden_page";
    case ErrorKind::kGoldenDigest:
      return "golden_digest";
    case ErrorKind::kGoldenDisk:
      return "golden_disk";
    case ErrorKind::kGoldenCode:
      return "golden_code";
    case ErrorKind::kDeltaGolden:
      return "delta_golden";
    case ErrorKind::kNoCheckpoint:
      return "no_checkpoint";
    case ErrorKind::kZstdMissing:
      return "zstd_missing";
  }
  return "unknown";
}

MonitorError::MonitorError(ErrorKind kind, const std::string& message)
    : std::runtime_error(std::string(error_name(kind)) + ": " + message), kind_(kind) {}

}  // namespace shinken
