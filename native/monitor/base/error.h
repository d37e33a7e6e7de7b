#pragma once
// What can go wrong on the host's side of the monitor, by name. Nothing that a guest does throws: guest
// faults are stop reasons (machine/run.h).
#include <stdexcept>
#include <string>

namespace shinken {

enum class ErrorKind : unsigned char {
  kInvalidConfig,    // a field of a config is out of its range
  kFile,             // a host file cannot be opened, read, written or renamed (errno in the message)
  kBadProgram,       // not an ELF, Image or flat binary that fits into RAM
  kBadInitrd,        // the initial root does not fit into RAM
  kBusy,             // the machine is running, or already has a run request
  kClosed,           // the machine was closed
  kNoMemory,         // the host refused memory
  kHostUnsupported,  // the host lacks, or forbids, what was asked for
  kGoldenTruncated,  // the file ends before its header says so
  kGoldenMagic,      // not a golden file
  kGoldenVersion,    // a golden file of another format version
  kGoldenAbi,        // made by a monitor with another machine_abi
  kGoldenHeader,     // header checksum or sizes are wrong
  kGoldenState,      // device state checksum or content is wrong
  kGoldenIndex,      // page index checksum or content is wrong
  kGoldenChunk,      // the table of compressed chunks, or a chunk, is wrong
  kGoldenPage,       // a page's content differs from its recorded hash
  kGoldenDigest,     // the parts are whole but the recorded state digest is another
  kGoldenDisk,       // a disk is missing, or differs in size or identity from the recorded one
  kGoldenCode,       // the block starts are wrong; only a full inspection says so, a load goes without them
  kDeltaGolden,      // a delta file stands on another golden
  kNoCheckpoint,     // no checkpoint of that step is kept; the message names those that are
  kZstdMissing,      // the host has no Zstandard library, which a compressed golden file needs
};

/// Stable lower-case name of a kind, e.g. "golden_truncated".
const char* error_name(ErrorKind kind);

/// Thrown by create, fork, freeze, load and save. `what()` is "<name>: <message>".
class MonitorError : public std::runtime_error {
 public:
  MonitorError(ErrorKind kind, const std::string& message);
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace shinken
