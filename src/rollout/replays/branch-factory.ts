/** A recorded factory that also goes on from the episodes in its recorder's folder. */
import type { EnvironmentOptions } from "../../env/checkpoints.js";
import type { BranchSource, Environment, EnvironmentFactory } from "../../env/environment.js";
import { ShinkenError } from "../../errors/index.js";
import { type Bundle, bundleEnding, bundleFiles, type BundleStep, readBundle } from "../../replay/index.js";
import type { RecordedFactory } from "../../replay/index.js";
import { branchBundle, type BranchOptions } from "./branch.js";
import type { SessionOpener } from "./rerun-opener.js";

export class BranchingFactory implements EnvironmentFactory {
  readonly #recorded: RecordedFactory;
  readonly #folder: string;
  readonly #opener: SessionOpener;

  /** `folder`: of the bundles that the recorded factory writes. */
  constructor(recorded: RecordedFactory, folder: string, opener: SessionOpener) {
    this.#recorded = recorded;
    this.#folder = folder;
    this.#opener = opener;
  }

  tasks(): ReturnType<EnvironmentFactory["tasks"]> {
    return this.#recorded.tasks();
  }

  params(task: string, seed: number): Record<string, unknown> {
    return this.#recorded.params(task, seed);
  }

  create(task: string, options?: EnvironmentOptions): Promise<Environment> {
    return this.#recorded.create(task, options);
  }

  createSandbox(image: string, options?: EnvironmentOptions): Promise<Environment> {
    return this.#recorded.createSandbox(image, options);
  }

  async branch(
    { bundle: episode, step, effects }: BranchSource,
    options: EnvironmentOptions = {},
  ): Promise<Environment> {
    const bundle = await this.#find(episode);
    const from = { step, effects, folder: this.#folder };
    const { environment } = await this.continue(bundle, from, options).catch((error: unknown) => {
      throw ofRequest(error);
    });
    return environment;
  }

  /** As `branch`, of any bundle. */
  async continue(
    bundle: Bundle,
    from: Omit<BranchOptions, "open">,
    options: EnvironmentOptions = {},
  ): Promise<{ environment: Environment; before: BundleStep[] }> {
    const { checkpoints } = options;
    const { session, parent, before } = await branchBundle(bundle, {
      ...from,
      open: (facts) => this.#opener.open(facts, { checkpoints }),
    });
    try {
      return { environment: await this.#recorded.continuing(session, parent, options), before };
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** By the name of its file, which ends in the episode's id; so one that is being written, or was cut off, is found too. */
  async #find(episode: string): Promise<Bundle> {
    const files = await bundleFiles([this.#folder]).catch(() => []);
    const file = files.find((one) => one.endsWith(`-${episode}${bundleEnding}`));
    const bundle = file === undefined ? null : await readBundle(file, { folder: this.#folder });
    if (bundle?.session.episode === episode) return bundle;
    throw new ShinkenError("bundle_missing", `no episode ${episode} is kept here`, {
      path: "from.bundle",
    });
  }
}

/** The error with the request's own field, if it is about one. */
function ofRequest(error: unknown): unknown {
  if (!(error instanceof ShinkenError) || !["step", "effects"].includes(error.path ?? "")) return error;
  const { code, message, path, suggestion } = error;
  return new ShinkenError(code, message, { path: `from.${path}`, suggestion, cause: error });
}
