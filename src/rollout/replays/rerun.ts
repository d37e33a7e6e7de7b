/**
 * Running an episode again from its bundle: the golden, the parameters, the fork's seed and clock, and the actions give the same
 * machine, bit for bit. The state after each step is compared with the recorded one.
 */
import { isAbsolute, join, relative } from "node:path";
import type { EnvironmentEvent } from "../../env/environment.js";
import type { ForkOrigin } from "../../env/provenance.js";
import type { Session } from "../../env/session/session.js";
import { ShinkenError } from "../../errors/index.js";
import { type Bundle, readBundle, type SessionFacts } from "../../replay/index.js";
import { folderOf } from "../../replay/read/reader.js";
import { type Aspect, type Difference, differenceOf, type Lived } from "./difference.js";
import { machineNote } from "./difference-machine.js";
import { notRepeatable } from "./rerun-opener.js";
import { checkBegun, planOf } from "./rerun-plan.js";

export interface RerunOptions {
  /** Gives a session that can repeat the episode: `sessionOpener(...).open`. */
  open: (facts: SessionFacts) => Promise<Session>;
  /** The last step to do; of all that were answered the last one if unsaid. 0: none, the session is as after its reset. */
  until?: number | undefined;
  /** What is compared; everything if unsaid. */
  compare?: readonly Aspect[] | undefined;
  /** Told after each step: its number, and that of the last one. */
  onStep?: ((step: number, last: number) => void) | undefined;
  /** Folder of bundles, in which parents are looked for; found from the bundle's place if unsaid. */
  folder?: string | undefined;
}

export interface Rerun {
  /** After the last step that was done; the caller's to close. */
  session: Session;
  /** How many steps of the bundle were done, the one that differs included. */
  steps: number;
  /** The first one, at which running stopped; null if all is as recorded. */
  difference: Difference | null;
}

const everything: readonly Aspect[] = ["state", "observation", "reward"];
/** Branches of branches that are followed. */
const generationsAtMost = 64;

/**
 * Runs a bundle's episode again; a branch by running its parent up to its step first. Rejects with `not_repeatable`, whose `path`
 * names what stands against it (see `sessionOpener` and `planOf`; also `parent` and `snapshot`), with `bad_request` for a step that
 * the bundle does not have, and with what a machine fails of; then no session is left open.
 */
export async function rerun(bundle: Bundle, options: RerunOptions): Promise<Rerun> {
  return run(bundle, options, generationsAtMost);
}

async function run(bundle: Bundle, options: RerunOptions, generations: number): Promise<Rerun> {
  const compare = new Set(options.compare ?? everything);
  const begun = await begin(bundle, options, generations);
  const { session } = begun;
  if (begun.difference !== null) return { session, steps: 0, difference: begun.difference };
  try {
    const { start, steps } = planOf(bundle, options.until);
    // A writer that was killed may have told a step's answer and not its state any more.
    if (options.until === undefined && isCut(bundle) && steps.at(-1)?.snapshot === null) steps.pop();
    const { step: end, snapshot } = steps.at(-1) ?? start;
    if (compare.has("state") && snapshot === null)
      throw notRepeatable("snapshot", `it tells no state after step ${end} that could be compared`);
    const paid: Lived["paid"][number][] = [];
    session.onEvent((event: EnvironmentEvent) => {
      if (event.event === "milestone") paid.push(event);
    });
    const base = bundle.session.parent?.step ?? 0;
    const first = differenceOf(
      start,
      { ...begun.told, paid, state: await stateIf(session, compare) },
      compare,
    );
    if (first !== null) {
      if (begun.before !== undefined) checkBegun(begun.before, base);
      const note =
        first.what === "state"
          ? goldenNote(bundle, session) + (await machineNote(bundle, base, session))
          : "";
      const detail = first.detail + note;
      return { session, steps: 0, difference: { step: base, ...first, detail } };
    }
    const last = base + steps.length;
    for (const [index, recorded] of steps.entries()) {
      const { step } = recorded;
      paid.length = 0;
      const difference = await again(session, recorded, paid, compare);
      options.onStep?.(step, last);
      if (difference === null) continue;
      const note = difference.what === "state" ? await machineNote(bundle, step, session) : "";
      const detail = difference.detail + note;
      return { session, steps: index + 1, difference: { step, ...difference, detail } };
    }
    return { session, steps: steps.length, difference: null };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Why two episodes differ from their beginning, mostly. */
function goldenNote({ session: { golden, parent } }: Bundle, session: Session): string {
  const now = session.provenance().golden;
  if (parent !== null || golden === null || golden === now) return "";
  return `; it began with golden ${golden.slice(0, 16)}, which is ${now.slice(0, 16)} now: the image is another one`;
}

interface Begun {
  session: Session;
  told: Pick<Lived, "observation" | "info">;
  difference: Difference | null;
  /** Of a branch, what it was branched from. */
  before?: Bundle;
}

/** A session in the state that the bundle's first step starts from. */
async function begin(bundle: Bundle, options: RerunOptions, generations: number): Promise<Begun> {
  const facts = bundle.session;
  if (facts.parent !== null) return branchAgain(bundle, options, generations);
  const session = await options.open(facts);
  try {
    // Before a machine is made for what cannot be repeated.
    planOf(bundle, options.until);
    const { seed, params, fork } = facts;
    const told = await session.reset({ seed: seed ?? undefined, params, origin: originOf(fork) });
    checkImage(facts, session);
    return { session, told, difference: null };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Throws where the image's name means another image now: nothing of the episode could be as it was. */
function checkImage({ image, image_digest: recorded }: SessionFacts, session: Session): void {
  const now = session.provenance().imageDigest;
  if (recorded === undefined || now === undefined || recorded === now) return;
  throw notRepeatable(
    "image_digest",
    `it was recorded on image ${image ?? ""} ${recorded.slice(0, 16)}, and ${now.slice(0, 16)} has that name now`,
    "build the image as it was, or record the episode anew",
  );
}

async function branchAgain(
  bundle: Bundle,
  options: RerunOptions,
  generations: number,
): ReturnType<typeof begin> {
  planOf(bundle, options.until);
  const { parent, fork } = bundle.session;
  const step = parent?.step ?? 0;
  const folder = folderOf(bundle.file, options.folder === undefined ? {} : { folder: options.folder });
  const before = await parentOf(bundle, folder, generations);
  const { onStep: _, ...quiet } = options;
  const { session, difference } = await run(before, { ...quiet, folder, until: step }, generations - 1);
  const nothing = { observation: { results: [] }, info: {} };
  if (difference !== null) {
    const detail = `in the episode that it was branched from: ${difference.detail}`;
    return { session, told: nothing, difference: { ...difference, detail } };
  }
  try {
    // Only the origin counts: the branch is made anew as it was then.
    const branch = await session.fork({ origin: originOf(fork) });
    return { session: branch, told: nothing, difference: null, before };
  } finally {
    await session.close();
  }
}

async function parentOf(bundle: Bundle, folder: string, generations: number): Promise<Bundle> {
  const { parent } = bundle.session;
  if (generations === 0) throw notRepeatable("parent", "it is a branch of too many branches");
  const file = join(folder, parent?.file ?? "");
  const inside = relative(folder, file);
  if (inside.startsWith("..") || isAbsolute(inside))
    throw notRepeatable("parent", "its parent's bundle is said to lie outside the folder of bundles");
  let found: Bundle;
  try {
    found = await readBundle(file, { folder });
  } catch (cause) {
    if (!(cause instanceof ShinkenError) || cause.code !== "bundle_missing") throw cause;
    const why = `the bundle of the episode that it was branched from is not at ${file}`;
    throw notRepeatable("parent", why, "keep branches together with their parents", cause);
  }
  if (found.session.episode !== parent?.episode)
    throw notRepeatable("parent", `${file} is not the episode that it was branched from`);
  return found;
}

/** Whether its end is not told. */
function isCut({ start, steps }: Bundle): boolean {
  const marks = [start, ...steps].flatMap(({ others }) => others);
  return !marks.some(
    (event) => !("foreign" in event) && event.channel === "marker" && event.kind === "ended",
  );
}

/** Does a step anew. */
async function again(
  session: Session,
  recorded: Parameters<typeof differenceOf>[0],
  paid: Lived["paid"],
  compare: ReadonlySet<Aspect>,
): Promise<Omit<Difference, "step"> | null> {
  let result: Awaited<ReturnType<Session["step"]>>;
  try {
    result = await session.step(recorded.actions.map(({ action }) => action));
  } catch (error) {
    if (!(error instanceof ShinkenError) || !refusals.has(error.code)) throw error;
    const what = error.code === "episode_over" ? "end" : "observation";
    return { what, detail: `recorded as done, refused now: ${error.code}: ${error.message}` };
  }
  const { observation, info } = result;
  return differenceOf(
    recorded,
    { observation, info, result, paid, state: await stateIf(session, compare) },
    compare,
  );
}

/** Of a step that is not done now and was done then. */
const refusals: ReadonlySet<string> = new Set(["episode_over", "bad_action", "capability_denied"]);

/** A digest costs time, which whoever does not compare it need not spend. */
async function stateIf(session: Session, compare: ReadonlySet<Aspect>): Promise<Lived["state"]> {
  return compare.has("state") ? session.state() : null;
}

function originOf(fork: SessionFacts["fork"]): ForkOrigin | undefined {
  if (fork === null) return undefined;
  const { kind, seed, clock } = fork;
  return { kind, seed, clock };
}
