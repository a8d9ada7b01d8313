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
