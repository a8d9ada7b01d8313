/** A stream entry as delivered. */
export interface Delivered {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly subject: string;
  /** When the server stored it, microseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
}
