/**
 * The keys of many groups of requests, found by their actions and things: most groups share neither with a request, so
 * their totals alone give the bonus. Covered by test/topics/key-index.test.ts.
 */
import { bonusOfPairs, type RequestKeys } from './request-keys.ts';

export class KeyIndex {
  /** By row. */
  readonly #groups: RequestKeys[] = [];
  /** Rows that have named an action or a thing; some may have dropped it since. */
  readonly #acting = new Map<string, Set<number>>();
  readonly #having = new Map<string, Set<number>>();
  #bonuses = new Float64Array(64);

  /** Appends a group. */
  push(keys: RequestKeys): void {
    this.#groups.push(keys);
    this.hold(this.#groups.length - 1, keys);
  }

  /** Call when the group in a row has taken in the requests of `keys`. */
  hold(row: number, { actions, things }: RequestKeys): void {
    for (const action of actions.keys()) addRow(this.#acting, action, row);
    for (const thing of things.keys()) addRow(this.#having, thing, row);
  }

  /** `keyBonus` of a group with each row. Valid until the next call. */
  bonuses(keys: RequestKeys): Float64Array {
    const groups = this.#groups;
    if (this.#bonuses.length < groups.length) this.#bonuses = new Float64Array(groups.length * 2);
    const bonuses = this.#bonuses.fill(0, 0, groups.length);
    for (const [action, count] of keys.actions)
      this.#acting.get(action)?.forEach((row) => {
        bonuses[row]! += count * (groups[row]!.actions.get(action) ?? 0);
      });
    for (const [thing, count] of keys.things)
      this.#having.get(thing)?.forEach((row) => {
        bonuses[row]! += count * (groups[row]!.things.get(thing) ?? 0);
      });
    for (let row = 0; row < groups.length; row += 1)
      bonuses[row] = bonusOfPairs(keys, groups[row]!, bonuses[row]!);
    return bonuses;
  }

  clear(): void {
    this.#groups.length = 0;
    this.#acting.clear();
    this.#having.clear();
  }
}

function addRow(rows: Map<string, Set<number>>, key: string, row: number): void {
  const known = rows.get(key);
  if (known === undefined) rows.set(key, new Set([row]));
  else known.add(row);
}
