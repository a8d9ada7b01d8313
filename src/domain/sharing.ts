/** What a worker asks of the machines that share the views with it. */
import { SetupError } from '../errors.ts';

/** The newest state of a shard cannot be had now: store or bucket do not answer, or another process still has it. */
export class StateAwaitedError extends SetupError {
  constructor(shard: number, options: ErrorOptions) {
    super(`the state of shard ${shard} cannot be read now`, options);
    this.name = 'StateAwaitedError';
  }
}

/**
 * The files of a database between two commits: the tables, and the log of what was changed in them since the last
 * checkpoint. Both belong together as long as `isWhole`.
 */
export interface StateImage {
  /** Stream sequence up to which it has counted. */
  readonly sequence: number;
  /** Rises whenever the log is written into the tables; what they had before then may be overwritten. */
  readonly version: number;
  /** Bytes of each file. */
  readonly bytes: { readonly tables: number; readonly log: number };
  /** Reads a part of a file; less than `length` bytes at its end. */
  read(file: 'tables' | 'log', position: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** True if all that was read belongs together. */
  isWhole(): boolean;
}

/** The open state of a shard. */
export interface OpenState {
  /** Stream sequence up to which it has counted. */
  readonly sequence: number;
  /** The files as they are now, while work goes on. */
  image(): Promise<StateImage>;
}

/** A shard that this process owns, as other machines see it. */
export interface SharedShard {
  /** Called after each publication in the shard's folder. */
  published(): void;
  /** Called once the state is closed: others of this machine may use the folder. */
  released(): void;
  /** Hands the shard over: others see all that is published, and may go on from a copy of the state. */
  close(): Promise<void>;
}

/** What a worker tells of a shard that it owns. */
export interface ShardOwner {
  /** Rejects when another worker may own it by now. */
  readonly guard: () => Promise<void>;
  /** Called when data was taken out of the state: the owner closes the shard, and opens it anew. */
  readonly onVoid: () => void;
}

/** How shards are shared among machines. */
export interface SharedShards {
  /** Workers with the same scope divide the shards among themselves: letters, digits, `-` and `.`. */
  readonly scope: string;
  /**
   * Brings the newest state of a shard into its folder, before it is opened there. Returns the stream sequence up to
   * which all machines have seen it counted; 0 if nothing was published.
   *
   * @throws StateAwaitedError when another try may succeed
   */
  prepare(shard: number, directory: string): Promise<number>;
  /** True if a machine is to own no shard. */
  isDrained(machine: string): Promise<boolean>;
  /**
   * Shares the open shard.
   *
   * @throws StateAwaitedError when another try may succeed
   */
  open(shard: number, directory: string, state: OpenState, owner: ShardOwner): Promise<SharedShard>;
  /** Keeps copies of the states of some shards in their folders, so that this process takes them over quickly. */
  standBy(shards: () => readonly number[], directoryOf: (shard: number) => string): { stop(): Promise<void> };
  /**
   * Follows the shards of which data is taken out: tells their owners, and deletes what `directoryOf` has of those that
   * this process does not own. `onBegun` is called when a shard of the views was made anew, and at the start.
   */
  follow(directoryOf: (shard: number) => string, onBegun: () => Promise<void>): { stop(): Promise<void> };
}
