/** Logistic regression by stochastic gradient descent (Adagrad) over hashed features; deterministic. */
import { BUCKETS } from '../../src/enrich/heads.ts';

export interface Example {
  readonly features: Uint16Array;
  readonly positive: boolean;
  /** How much the example counts. */
  readonly weight: number;
}

export interface Trained {
  readonly weights: Float32Array;
  readonly bias: number;
}

/** Order by a fixed generator, so that the same data always make the same head. */
function shuffled(count: number, seed: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let state = seed >>> 0;
  for (let i = count - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    const held = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = held;
  }
  return order;
}

/** Fits weights; `l2` pulls them to zero. */
export function fit(examples: readonly Example[], { epochs = 12, rate = 0.3, l2 = 3e-3 } = {}): Trained {
  const weights = new Float32Array(BUCKETS);
  const squares = new Float32Array(BUCKETS).fill(1e-3);
  let bias = 0;
  let biasSquare = 1e-3;
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const at of shuffled(examples.length, epoch + 1)) {
      const example = examples[at];
      if (example === undefined) continue;
      const norm = 1 / Math.sqrt(Math.max(1, example.features.length));
      let logit = bias;
      for (const feature of example.features) logit += (weights[feature] ?? 0) * norm;
      const error = (1 / (1 + Math.exp(-logit)) - (example.positive ? 1 : 0)) * example.weight;
      for (const feature of example.features) {
        const weight = weights[feature] ?? 0;
        const gradient = error * norm + l2 * weight;
        const square = (squares[feature] ?? 0) + gradient * gradient;
        squares[feature] = square;
        weights[feature] = weight - (rate * gradient) / Math.sqrt(square);
      }
      biasSquare += error * error;
      bias -= (rate * error) / Math.sqrt(biasSquare);
    }
  }
  return { weights, bias };
}
