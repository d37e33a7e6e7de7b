/**
 * The one error table: every code that a client, a task author or a script can meet. `docs/errors.md` is held
 * against it by a test. `retry` says whether the same request may succeed later without being changed.
 */
export const errorTable = {
  // --- what a client sent
  bad_message: {
    retry: false,
    meaning: "The message is not valid msgpack or JSON, or exceeds a nesting or size limit.",
  },
  bad_request: {
    retry: false,
    meaning: "A field is missing, misspelt or has the wrong type; `path` names it.",
  },
  unknown_op: { retry: false, meaning: "The operation does not exist in this protocol version." },
  unsupported_version: {
    retry: false,
    meaning: "The server does not speak the protocol version asked for, or a bundle is of a later format.",
  },
  unauthorized: { retry: false, meaning: "The bearer token is missing or wrong." },
  unknown_session: { retry: false, meaning: "No session of that name is open, or its token does not match." },
  session_exists: { retry: false, meaning: "A session of that name is already open." },
  session_busy: { retry: true, meaning: "The session is still working on an earlier request." },
  unknown_task: { retry: false, meaning: "The server has no task of that id." },
  unknown_environment: { retry: false, meaning: "The server has no environment of that name." },
  not_reset: { retry: false, meaning: "step, evaluate and observe need a reset first." },
  episode_over: {
    retry: false,
    meaning: "The episode has terminated or was truncated; reset starts a new one.",
  },
  bad_action: { retry: false, meaning: "An action does not match its schema; `path` names the field." },
  capability_denied: { retry: false, meaning: "The task does not allow this action; nothing was done." },
  checkpoint_missing: {
    retry: false,
    meaning: "No checkpoint of that step is kept; the message names the steps of those that are.",
  },
  step_out_of_order: {
    retry: false,
    meaning: "The step number is neither the next one nor a resend of the last.",
  },
  cancelled: { retry: true, meaning: "The request was cancelled before it finished." },
  unknown_rollout: {
    retry: false,
    meaning: "No rollout of that name is open to this connection, or its token does not match.",
  },
  rollout_exists: { retry: false, meaning: "A rollout of that name is already open." },
  rollout_over: { retry: false, meaning: "The rollout was closed; it gives out no episodes any more." },
  no_episode_ready: {
    retry: true,
    meaning: "No episode became ready within the time that the pull was to wait.",
  },
  episode_cut: {
    retry: false,
    meaning:
      "The episode was late, and its group went on without it, as the rollout's straggler policy says.",
  },
  eval_only: {
    retry: false,
    meaning: "The task is for measuring only (`use: eval`); a rollout with `purpose: eval` may have it.",
  },
  // --- limits
  too_large: { retry: false, meaning: "The message or file exceeds a stated limit." },
  too_many_requests: {
    retry: true,
    meaning: "The connection has as many requests outstanding as it may have.",
  },
  too_many_sessions: {
    retry: true,
    meaning: "The server or the connection holds as many sessions as it may.",
  },
  too_many_rollouts: { retry: true, meaning: "The server holds as many rollouts as it may." },
  slow_consumer: { retry: true, meaning: "The client did not read fast enough; the connection was closed." },
  server_draining: { retry: true, meaning: "The server is shutting down and takes no new sessions." },
  session_expired: {
    retry: false,
    meaning: "The session was idle, detached or alive for too long and was closed.",
  },
  connection_lost: {
    retry: true,
    meaning: "The connection broke before the reply came; only clients report this.",
  },
  // --- task files and images
  bad_task: {
    retry: false,
    meaning: "A task file breaks the schema or a load-time proof; `path` names the place.",
  },
  asset_mismatch: { retry: false, meaning: "An asset's bytes do not have the sha256 that the task states." },
  image_missing: {
    retry: false,
    meaning: "The guest image has not been built; `shinken image build` builds it.",
  },
  image_build_failed: { retry: true, meaning: "Building a guest image failed; nothing half-built was kept." },
  signature_invalid: {
    retry: false,
    meaning: "A release file's signature does not match the project's keys.",
  },
  hash_mismatch: {
    retry: true,
    meaning: "A download does not have the size or sha256 that the signed index states.",
  },
  disk_full: { retry: true, meaning: "The disk of the cache folder, or of the bundles, is full." },
  golden_missing: {
    retry: false,
    meaning: "No golden has that name; `shinken golden list` says which there are.",
  },
  golden_invalid: { retry: false, meaning: "A golden file is truncated, altered or of another machine ABI." },
  host_unsupported: {
    retry: false,
    meaning: "The host lacks something that is needed; the message says what to do.",
  },
  // --- replay
  bad_bundle: {
    retry: false,
    meaning: "A bundle is damaged or no bundle at all; the message names the file and the place.",
  },
  bundle_missing: { retry: false, meaning: "No bundle lies at that path, or it cannot be read." },
  blob_missing: { retry: false, meaning: "Content that a bundle refers to does not lie beside it." },
  recording_failed: {
    retry: true,
    meaning:
      "Recording stopped for a fault of the file system or the recorder; the session goes on unrecorded.",
  },
  not_repeatable: {
    retry: false,
    meaning: "The episode cannot be run again from its bundle; the message says what keeps it from that.",
  },
  // --- the run store
  store_missing: {
    retry: false,
    meaning: "No run store lies at that path, or it can be neither read nor made there.",
  },
  store_version: {
    retry: false,
    meaning:
      "The run store has a schema that this program does not know, or may not migrate while it only reads.",
  },
  store_damaged: {
    retry: false,
    meaning: "The file is no run store, its pages are damaged, or the disk neither reads nor writes them.",
  },
  store_busy: { retry: true, meaning: "Another process kept the run store locked for too long." },
  store_conflict: {
    retry: false,
    meaning: "The run store holds a row of that key, or refuses what the row says; rows are never replaced.",
  },
  unknown_run: { retry: false, meaning: "The run store has no run of that id, or several that begin so." },
  locks_differ: {
    retry: false,
    meaning: "The runs were not played under the same conditions; the message says what differs.",
  },
  // --- the job queue
  lease_lost: {
    retry: false,
    meaning: "The lease of a job, or a batch of results, is over: its time ran out, or it was answered for.",
  },
  job_conflict: { retry: false, meaning: "The queue holds another job of that id." },
  queue_failed: {
    retry: true,
    meaning: "The queue's file or its Redis cannot be reached, or refuses to work; the message says which.",
  },
  golden_transfer: {
    retry: true,
    meaning:
      "A golden could not be fetched from another node, or is not what its name says; nothing of it is used.",
  },
  // --- the machine (infrastructure: a status of its own, never a reward)
  setup_failed: {
    retry: true,
    meaning: "A task's setup or readiness probe failed; there is no golden to fork.",
  },
  fork_failed: { retry: true, meaning: "A fork did not acknowledge its uniqueness step; it was killed." },
  out_of_memory: {
    retry: true,
    meaning: "The host has no memory for another machine; none was made, and those that are open live on.",
  },
  machine_died: {
    retry: true,
    meaning: "The machine stopped: kernel panic, power-off, or its agent is gone.",
  },
  circuit_open: {
    retry: true,
    meaning:
      "Sandboxes of the image keep failing, so no more are made until one that is tried lives; the message says what they die of.",
  },
  machine_closed: { retry: false, meaning: "The machine was closed; the object can no longer be used." },
  machine_timeout: { retry: true, meaning: "The wall-clock safety net ended the request." },
  agent_protocol: { retry: true, meaning: "The guest agent sent something that breaks its protocol." },
  guest_error: { retry: false, meaning: "The guest refused the operation; the message carries its errno." },
  judge_failed: {
    retry: true,
    meaning: "No judge is configured, or its endpoint gave no reply; the verdict is ungraded.",
  },
  model_failed: {
    retry: true,
    meaning: "The operator's model gave no reply in as many tries as it has; the episode is ungraded.",
  },
  model_refused: {
    retry: false,
    meaning: "The model's endpoint refuses the request (key, model, length); the episode is ungraded.",
  },
  grader_error: { retry: true, meaning: "A check could not be evaluated; the verdict is ungraded." },
  internal: { retry: false, meaning: "A fault of ours; please report it with the message." },
} as const;

/** A stable error code. */
export type ErrorCode = keyof typeof errorTable;
