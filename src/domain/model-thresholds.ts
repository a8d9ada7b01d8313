/**
 * The cosine thresholds of an embedding model.
 *
 * Test: test/reader/topics/instance-thresholds.test.ts.
 */

export interface Thresholds {
  /** A request joins a micro-cluster from this cosine with its centroid. */
  readonly micro: number;
  /** Micro-clusters form a topic down to this mean similarity of their requests. */
  readonly topic: number;
  /** Topics form a topic cluster down to this mean similarity of their centroids. */
  readonly cluster: number;
  /** Two requests are the same from this cosine on, within a session and in groups across sessions. */
  readonly repeated: number;
  /**
   * The similarity floor: cosine of unrelated texts. Present when the thresholds are a first guess that each instance
   * corrects; missing when they belong to the model.
   */
  readonly background?: number;
}

/** When the own topic nearest to a request claims it. */
export interface ClaimRule {
  /** Position of the least similarity between the topic threshold (0) and the threshold of micro-clusters (1). */
  readonly share: number;
  /** Least lead over the second nearest own topic, on a similarity scale of 1. */
  readonly margin: number;
}

/**
 * `near`: beside found topics, which keep what no own topic is near to (decision 0058). `wide`: for what `near`
 * leaves, where the rest counts as the topic Other (decision 0112).
 */
export const CLAIMS = {
  near: { share: 0.5, margin: 0 },
  wide: { share: 0.25, margin: 0.08 },
} as const satisfies Readonly<Record<string, ClaimRule>>;

/** The same position, from which requests are near enough to a label's examples (decision 0118). */
export const LABEL_SHARE = 0.75;
/** How much farther on that way a request must be to be near enough by one example of many. */
export const ALONE_SHARE = 0.5;
