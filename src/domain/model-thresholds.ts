/** It has types only, and no test of its own. */
/** Cosine similarities at which the vectors of an embedding model mean something. */
export interface Thresholds {
  /** From this cosine with its centroid on, a request joins a micro-cluster. */
  readonly micro: number;
  /** Down to this mean similarity of their requests, micro-clusters form a topic. */
  readonly topic: number;
  /** Down to this mean similarity of their centroids, topics form a topic cluster. */
  readonly cluster: number;
  /** From this cosine on, two requests ask for the same: within a session, and in groups over all sessions. */
  readonly repeated: number;
  /**
   * The similarity floor: cosine of texts that have nothing in common. Given when the thresholds are a first guess that
   * each instance corrects; missing when they belong to the model.
   */
  readonly background?: number;
}
