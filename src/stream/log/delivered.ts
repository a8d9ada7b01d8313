/** The type of a delivered entry, in a file of its own, so that modules that read entries need not import each other. */

/** A stream entry as the server delivered it. */
export interface Delivered {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly subject: string;
  /** When the server stored it, microseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
}
