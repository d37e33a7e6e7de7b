/** What stands behind a server or a local run: machines, goldens and tasks. Opened only when somebody asks for one. */
import type { Environment, EnvironmentFactory } from "../env/environment.js";
import { ShinkenError } from "../errors/index.js";

export interface Backend {
  factory: EnvironmentFactory;
  openMachines(): number;
  close(): Promise<void>;
}

export interface BackendOptions {
  /** Folder of tasks; none if unsaid. */
  tasks?: string | undefined;
}

/** TEMPORARY */
export async function openBackend(_options: BackendOptions): Promise<Backend> {
  const none = (): Promise<Environment> =>
    Promise.reject(new ShinkenError("host_unsupported", "not wired yet"));
  return {
    factory: { tasks: () => [], create: none, createSandbox: none },
    openMachines: () => 0,
    close: async () => undefined,
  };
}
