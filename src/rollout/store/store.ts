/**
 * Runs and their episodes in one SQLite file. Rows are only ever added. One process writes at a time, others read meanwhile; a
 * process that is killed leaves what had been added, and nothing of what had not.
 */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { guarded } from "./faults.js";
import { gradingKey } from "./gradings.js";
import { type Connection, openFile } from "./open.js";
import { defaultRunStore } from "./place.js";
import {
  episodeRow,
  grading,
  gradingRow,
  type JoinedRow,
  type ListedRun,
  runInfo,
  runRow,
  storedEpisode,
  toldVerdict,
  type VerdictRow,
} from "./rows.js";
import type {
  DoneEpisode,
  Grading,
  Labels,
  RunEnd,
  RunFilter,
  RunInfo,
  RunLock,
  RunSource,
  ScoreProvenance,
  StoredEpisode,
} from "./types.js";

type Statement = ReturnType<Connection["prepare"]>;

export interface OpenOptions {
  /** Nothing is made, migrated or written. */
  readonly?: boolean | undefined;
}

/**
 * Opens the store at a path, or the default one.
 * @throws ShinkenError `store_missing`, `store_version`, `store_damaged`, `store_busy`, `disk_full`
 */
export function openRunStore(path: string = defaultRunStore(), options: OpenOptions = {}): RunStore {
  const full = resolve(path);
  return new RunStore(full, openFile(full, options.readonly === true));
}

export class RunStore {
  readonly path: string;
  readonly #database: Connection;
  readonly #prepared = new Map<string, Statement>();

  /** Takes the connection over. */
  constructor(path: string, database: Connection) {
    this.path = path;
    this.#database = database;
  }

  /** Gives the new run's id. */
  begin(lock: RunLock, labels: Labels = {}, source: RunSource = "played", id: string = randomUUID()): string {
    this.#insert("runs", runRow(id, source, lock, labels));
    return id;
  }

  run(id: string): RunInfo | undefined {
    const [row] = this.all<ListedRun>("SELECT * FROM run_list WHERE run = @id", { id });
    return row === undefined ? undefined : runInfo(row);
  }

  /** The run of an id or of the one id that begins so. @throws ShinkenError `unknown_run` */
  named(beginning: string): RunInfo {
    const found = this.all<ListedRun>(
      `SELECT * FROM run_list WHERE substr(run, 1, length(@beginning)) = @beginning
        ORDER BY run = @beginning DESC LIMIT 2`,
      { beginning },
    );
    const [row, another] = found;
    if (row === undefined || beginning === "")
      throw new ShinkenError("unknown_run", `${this.path} holds no run "${beginning}"`, {
        path: "run",
        suggestion: "`shinken runs` lists them",
      });
    if (another !== undefined && row.run !== beginning)
      throw new ShinkenError("unknown_run", `several runs begin with "${beginning}"`, {
        path: "run",
        suggestion: "write more of its id",
      });
    return runInfo(row);
  }

  /** The latest first. */
  runs(filter: RunFilter = {}): RunInfo[] {
    const { taskSet = null, operator = null, model = null, source = null } = filter;
    return this.all<ListedRun>(
      `SELECT * FROM run_list WHERE (@taskSet IS NULL OR task_set = @taskSet)
        AND (@operator IS NULL OR operator = @operator) AND (@model IS NULL OR model = @model)
        AND (@source IS NULL OR source = @source) ORDER BY began_ms DESC, run`,
      { taskSet, operator, model, source },
    ).map(runInfo);
  }

  /**
   * Adds an attempt with its verdict; it is on the disk when this returns.
   * @throws ShinkenError `unknown_run`; `store_conflict` where that episode, or that attempt, is there; `store_busy`, `disk_full`
   */
  add(runId: string, episode: StoredEpisode): void {
    this.addAll(runId, [episode]);
  }

  /** Adds all of them or none. Throws as `add`. */
  addAll(runId: string, episodes: readonly StoredEpisode[]): void {
    const { runtime } = this.#known(runId);
    this.#write(() => {
      for (const one of episodes) {
        this.#insert("episodes", episodeRow(runId, one));
        this.#insert("verdicts", toldVerdict(one, runtime));
      }
    });
  }

  /** Replicas that have been played, by their last attempts: what a run that is resumed need not play, or may try again. */
  done(runId: string): DoneEpisode[] {
    return this.all<DoneEpisode>(
      `SELECT e.task, e.replica, e.attempt, v.status, v.reason FROM last_attempts AS e
        JOIN verdicts AS v ON v.episode = e.episode AND v.provenance <> 'regraded'
        WHERE e.run = @id ORDER BY e.task, e.replica`,
      { id: this.#known(runId).id },
    );
  }

  /** The latest end stands: a run that was interrupted may be resumed, and finish. */
  end(runId: string, status: RunEnd): void {
    this.#insert("run_ends", { run: this.#known(runId).id, status, ended_ms: Date.now() });
  }

  /** Every attempt, in the order in which they came, with the verdict that came with it, or the latest of a provenance. */
  episodes(runId: string, provenance?: ScoreProvenance): StoredEpisode[] {
    return this.all<JoinedRow>(
      `SELECT v.provenance, v.verifier, v.runtime, v.by, v.status, v.score, v.passed, v.reason, v.verdict, e.*
        FROM episodes AS e JOIN latest_verdicts AS v ON v.episode = e.episode
        WHERE e.run = @id AND v.provenance = coalesce(@provenance, v.provenance)
        AND (@provenance IS NOT NULL OR v.provenance <> 'regraded') ORDER BY e.seq`,
      { id: this.#known(runId).id, provenance: provenance ?? null },
    ).map(storedEpisode);
  }

  /** Adds a verdict on a recorded episode; it is on the disk when this returns. Throws as `add`. */
  addGrading(one: Grading): void {
    this.#insert("verdicts", gradingRow(one));
  }

  /** All that was graded again, in the order in which it came. */
  gradings(): Grading[] {
    return this.all<VerdictRow>("SELECT * FROM verdicts WHERE provenance = 'regraded' ORDER BY seq").map(
      grading,
    );
  }

  /** Keys (`gradingKey`) of all that was graded again. */
  gradingKeys(): Set<string> {
    const rows = this.all<Pick<Grading, "episode" | "verifier" | "runtime">>(
      "SELECT DISTINCT episode, verifier, runtime FROM verdicts WHERE provenance = 'regraded'",
    );
    return new Set(rows.map(gradingKey));
  }

  /** Rows of a query of this room, whose columns its caller knows. */
  all<Row>(sql: string, values: Readonly<Record<string, string | number | null>> = {}): Row[] {
    return guarded(this.path, () => this.#statement(sql).all(values) as Row[]);
  }

  /** As `all`, one row at a time. */
  *each(
    sql: string,
    values: Readonly<Record<string, string | number | null>>,
  ): Generator<Readonly<Record<string, unknown>>, void, undefined> {
    yield* this.#statement(sql).iterate(values) as IterableIterator<Readonly<Record<string, unknown>>>;
  }

  /** Hash of the bundle of a stored episode: null where it is not known, undefined where the episode is not stored. */
  bundleOf(episode: string): string | null | undefined {
    const [row] = this.all<{ sha256: string | null }>(
      "SELECT sha256 FROM episodes WHERE episode = @episode",
      {
        episode,
      },
    );
    return row?.sha256;
  }

  /** Idempotent. */
  close(): void {
    this.#database.close();
  }

  #known(id: string): { id: string; runtime: string } {
    const [run] = this.all<{ id: string; runtime: string }>(
      "SELECT run AS id, runtime FROM runs WHERE run = @id",
      { id },
    );
    if (run === undefined)
      throw new ShinkenError("unknown_run", `${this.path} holds no run "${id}"`, { path: "run" });
    return run;
  }

  #insert(table: "runs" | "run_ends" | "episodes" | "verdicts", row: object): void {
    const columns = Object.keys(row);
    const places = columns.map((column) => `@${column}`);
    const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places.join(", ")})`;
    guarded(this.path, () => this.#statement(sql).run(row));
  }

  #statement(sql: string): Statement {
    const known = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, known);
    return known;
  }

  #write(work: () => void): void {
    guarded(this.path, () => this.#database.transaction(work).immediate());
  }
}
