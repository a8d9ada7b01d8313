/**
 * An index of the keys of many groups by action and thing. It computes `keyBonus` with all groups at once: most groups
 * share no key with a request, so their totals alone give the bonus.
 *
 * Test: test/reader/topics/key-index.test.ts.
 */
import { bonusOfPairs, languageBonus, type RequestKeys } from './request-keys.ts';

export class KeyIndex {
  /** Keys by row. The arrays below hold `acting` and `having` of each group, for the loop over all. */
  readonly #groups: RequestKeys[] = [];
  #acting = new Float64Array(64);
  #having = new Float64Array(64);
  /** Rows that have named an action or a thing; some may have dropped it since. */
  readonly #byAction = new Map<string, Set<number>>();
  readonly #byThing = new Map<string, Set<number>>();
  #bonuses = new Float64Array(64);

  /** Appends a group. */
  push(keys: RequestKeys): void {
    this.#groups.push(keys);
    this.#makeRoom(this.#groups.length);
    this.hold(this.#groups.length - 1, keys);
  }

  /** Call after the group of a row has taken in the requests of `keys`. */
  hold(row: number, { actions, things }: RequestKeys): void {
    const { acting, having } = this.#groups[row]!;
    this.#acting[row] = acting;
    this.#having[row] = having;
    for (const action of actions.keys()) addRow(this.#byAction, action, row);
    for (const thing of things.keys()) addRow(this.#byThing, thing, row);
  }

  /** Returns the `keyBonus` of a group with each row. Valid until the next call. */
  bonuses(keys: RequestKeys): Float64Array {
    const [groups, bonuses] = [this.#groups, this.#bonuses.fill(0, 0, this.#groups.length)];
    for (const [action, count] of keys.actions)
      this.#byAction.get(action)?.forEach((row) => {
        bonuses[row]! += count * (groups[row]!.actions.get(action) ?? 0);
      });
    for (const [thing, count] of keys.things)
      this.#byThing.get(thing)?.forEach((row) => {
        bonuses[row]! += count * (groups[row]!.things.get(thing) ?? 0);
      });
    const [actings, havings, { acting, having }] = [this.#acting, this.#having, keys];
    for (let row = 0; row < groups.length; row += 1) {
      const same = bonuses[row]!;
      const bonus = bonusOfPairs(same, acting * actings[row]! + having * havings[row]!);
      bonuses[row] = same > 0 ? bonus + languageBonus(keys, groups[row]!) : bonus;
    }
    return bonuses;
  }

  clear(): void {
    this.#groups.length = 0;
    this.#byAction.clear();
    this.#byThing.clear();
  }

  #makeRoom(rows: number): void {
    if (this.#acting.length >= rows) return;
    this.#acting = grown(this.#acting);
    this.#having = grown(this.#having);
    this.#bonuses = new Float64Array(this.#acting.length);
  }
}

function grown(array: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(array.length * 2);
  larger.set(array);
  return larger;
}

function addRow(rows: Map<string, Set<number>>, key: string, row: number): void {
  const known = rows.get(key);
  if (known === undefined) rows.set(key, new Set([row]));
  else known.add(row);
}
