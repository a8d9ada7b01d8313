/** What callers were told is stored, beside what is counted in the end. */

/** Messages of one instance. */
export interface LedgerEntry {
  readonly instanceId: string;
  /** A key that may read the instance. */
  readonly key: string;
  /** Of requests that were answered with 200: each must be counted once. */
  readonly accepted: number;
  /** Of requests whose answer does not say whether they were stored: each may be counted, once. */
  readonly unknown: number;
  /** The latest stream position that an answer told; 0: none did. */
  readonly position: number;
}

/** Where messages went. */
export interface Account {
  readonly instanceId: string;
  readonly key: string;
}

/** What was accepted, by instance. It takes nothing from the service but its answers. */
export class Ledger {
  readonly #entries = new Map<string, LedgerEntry>();

  accepted(account: Account, messages: number, position = 0): void {
    const entry = this.#entryOf(account);
    this.#entries.set(account.instanceId, {
      ...entry,
      accepted: entry.accepted + messages,
      position: Math.max(entry.position, position),
    });
  }

  unknown(account: Account, messages: number): void {
    const entry = this.#entryOf(account);
    this.#entries.set(account.instanceId, { ...entry, unknown: entry.unknown + messages });
  }

  add(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) {
      this.accepted(entry, entry.accepted, entry.position);
      this.unknown(entry, entry.unknown);
    }
  }

  entries(): LedgerEntry[] {
    return [...this.#entries.values()];
  }

  #entryOf({ instanceId, key }: Account): LedgerEntry {
    const none = { instanceId, key, accepted: 0, unknown: 0, position: 0 };
    return this.#entries.get(instanceId) ?? none;
  }
}

/** A ledger compared with what is counted. All but the words are numbers of messages. */
export interface Balance {
  readonly instances: number;
  readonly accepted: number;
  readonly unknown: number;
  readonly counted: number;
  /** Accepted and not counted. */
  readonly lost: number;
  /** Counted beyond what was accepted or may have been. */
  readonly twice: number;
  /** One sentence for each instance (the first twenty) in which something is lost or counted twice. */
  readonly wrong: readonly string[];
}

const MOST_WORDS = 20;
const AT_ONCE = 8;

/** `countOf` gives the counted messages of an instance, once everything is counted. */
export async function balance(
  entries: readonly LedgerEntry[],
  countOf: (entry: LedgerEntry) => Promise<number>,
): Promise<Balance> {
  const sums = { accepted: 0, unknown: 0, counted: 0, lost: 0, twice: 0 };
  const wrong: string[] = [];
  const counts: number[] = [];
  for (let first = 0; first < entries.length; first += AT_ONCE)
    counts.push(...(await Promise.all(entries.slice(first, first + AT_ONCE).map(countOf))));
  for (const [index, { instanceId, accepted, unknown }] of entries.entries()) {
    const counted = counts[index] ?? 0;
    const lost = Math.max(0, accepted - counted);
    const twice = Math.max(0, counted - accepted - unknown);
    sums.accepted += accepted;
    sums.unknown += unknown;
    sums.counted += counted;
    sums.lost += lost;
    sums.twice += twice;
    if ((lost > 0 || twice > 0) && wrong.length < MOST_WORDS)
      wrong.push(`instance ${instanceId}: ${counted} counted of ${accepted} accepted and ${unknown} unknown`);
  }
  return { instances: entries.length, ...sums, wrong };
}
