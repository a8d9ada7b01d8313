/** Logistic regression by stochastic gradient descent (Adagrad) over hashed features; deterministic. */
import { BUCKETS } from '../../src/reader/acts/heads.ts';
import { randomNumbers } from '../eval/counts.ts';

const EPOCHS = 12;
const RATE = 0.3;
/** Pulls weights to zero. */
const L2 = 3e-3;

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
  const random = randomNumbers(seed);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const held = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = held;
  }
  return order;
}

export function fit(examples: readonly Example[]): Trained {
  const weights = new Float32Array(BUCKETS);
  const squares = new Float32Array(BUCKETS).fill(1e-3);
  let bias = 0;
  let biasSquare = 1e-3;
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const at of shuffled(examples.length, epoch + 1)) {
      const example = examples[at];
      if (example === undefined) continue;
      const norm = 1 / Math.sqrt(Math.max(1, example.features.length));
      let logit = bias;
      for (const feature of example.features) logit += (weights[feature] ?? 0) * norm;
      const error = (1 / (1 + Math.exp(-logit)) - (example.positive ? 1 : 0)) * example.weight;
      for (const feature of example.features) {
        const weight = weights[feature] ?? 0;
        const gradient = error * norm + L2 * weight;
        const square = (squares[feature] ?? 0) + gradient * gradient;
        squares[feature] = square;
        weights[feature] = weight - (RATE * gradient) / Math.sqrt(square);
      }
      biasSquare += error * error;
      bias -= (RATE * error) / Math.sqrt(biasSquare);
    }
  }
  return { weights, bias };
}
