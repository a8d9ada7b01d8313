/**
 * Evaluates the alerts of the shards that this process has open.
 *
 * Test: test/doors/alerts/alerter.test.ts.
 */
import type { AlertedShard, ShardAlerts } from '../../domain/alerting.ts';
import { ShardEvaluation, type EvaluationCounts, type ShardEvaluationOptions } from './shard-evaluation.ts';

export class Alerter {
  readonly #options: ShardEvaluationOptions;
  readonly #shards = new Set<ShardEvaluation>();
  readonly #counts: EvaluationCounts = { evaluations: 0, fired: 0 };

  constructor(options: ShardEvaluationOptions) {
    this.#options = options;
  }

  get counters(): Readonly<EvaluationCounts> {
    return { ...this.#counts };
  }

  openShard(shard: AlertedShard): ShardAlerts {
    const work = new ShardEvaluation(shard, this.#options, this.#counts, () => this.#shards.delete(work));
    this.#shards.add(work);
    this.#options.sender.look();
    return work;
  }

  /**
   * Returns the guard of the instance's shard, which rejects once another worker may own it. Null if no open shard
   * contains the instance.
   */
  guardOf(instanceId: string): (() => Promise<void>) | null {
    for (const { shard, isClosing } of this.#shards)
      if (!isClosing && this.#options.isOf(instanceId, shard)) return shard.guard;
    return null;
  }
}
