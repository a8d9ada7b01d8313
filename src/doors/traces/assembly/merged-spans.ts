/** How many spans of a conversation are kept, and in which portions. */
export interface MergedLimits {
  /** Digests that stand with the conversation at least. */
  readonly kept: number;
  /** Digests that come and go together. */
  readonly block: number;
  /** Digests in a page, which has a key of its own. */
  readonly page: number;
}

export const MERGED_LIMITS: MergedLimits = { kept: 4096, block: 256, page: 4096 };

/** Pages of one conversation: of 16 million spans. */
const MAX_PAGES = 4096;

interface Block {
  /** Sequence of the newest entry that holds one of the spans. */
  until: number;
  readonly digests: string[];
}

interface Page {
  readonly number: number;
  until: number;
}

/** What is stored with the conversation: the blocks, then the pages, as numbers and their newest sequences. */
export interface StoredMerged {
  readonly blocks: readonly (readonly [until: number, digests: readonly string[]])[];
  readonly pages: readonly (readonly [number: number, until: number])[];
}

/** A page to be stored before the conversation that no longer has its digests. */
export interface MergedPage {
  readonly number: number;
  readonly digests: ReadonlySet<string>;
}

/**
 * Which spans a conversation has taken in, by digest: the newest ones, for exporters that repeat themselves, and all
 * that are still on the stream, for whoever reads it again after a kill. If the latter are many, the oldest go into
 * pages. A page holds only what had been taken in, and counts only if the stored conversation names it, so it may be
 * written at any time before that.
 */
export class MergedSpans {
  readonly #limits: MergedLimits;
  #blocks: Block[] = [];
  #pages: Page[] = [];
  /** The block of each digest; null: not needed since the conversation was stored. Takes more room than the blocks. */
  #known: Map<string, Block> | null = null;

  constructor(limits = MERGED_LIMITS, { blocks, pages }: StoredMerged = { blocks: [], pages: [] }) {
    this.#limits = limits;
    this.#blocks = blocks.map(([until, digests]) => ({ until, digests: [...digests] }));
    this.#pages = pages.map(([number, until]) => ({ number, until }));
  }

  get #byDigest(): Map<string, Block> {
    return (this.#known ??= new Map(
      this.#blocks.flatMap((block) => block.digests.map((digest) => [digest, block] as const)),
    ));
  }

  /** How many digests stand with the conversation. */
  get size(): number {
    return this.#blocks.reduce((sum, { digests }) => sum + digests.length, 0);
  }

  get stored(): StoredMerged {
    this.#known = null;
    return {
      blocks: this.#blocks.map(({ until, digests }) => [until, digests]),
      pages: this.#pages.map(({ number, until }) => [number, until]),
    };
  }

  /** Not those in pages. */
  has(digest: string): boolean {
    return this.#byDigest.has(digest);
  }

  /** Numbers of the pages with spans that may come again, the newest first. */
  pages(firstSequence: number): readonly number[] {
    return this.#pages
      .filter(({ until }) => until >= firstSequence)
      .map(({ number }) => number)
      .toReversed();
  }

  /** `until`: sequence of the newest entry that holds a part of the span. */
  add(digest: string, until: number): void {
    if (this.#byDigest.has(digest)) return;
    let last = this.#blocks.at(-1);
    if (last === undefined || last.digests.length >= this.#limits.block) {
      last = { until, digests: [] };
      this.#blocks.push(last);
    }
    last.digests.push(digest);
    last.until = Math.max(last.until, until);
    this.#byDigest.set(digest, last);
  }

  /** A span that is known stands in a newer entry, too. Returns whether that was not known. `page`: where it is. */
  renew(digest: string, until: number, page?: number): boolean {
    const known = this.#byDigest.get(digest) ?? this.#pages.find(({ number }) => number === page);
    if (known === undefined || known.until >= until) return false;
    known.until = until;
    return true;
  }

  /** Lets go of the oldest ones. Returns what has to be stored before the conversation is. */
  shrink(firstSequence: number): MergedPage[] {
    this.#pages = this.#pages.filter(({ until }) => until >= firstSequence).slice(-MAX_PAGES);
    const pages: MergedPage[] = [];
    const gone = new Set<Block>();
    let page: Block[] = [];
    let size = 0;
    for (const block of this.#surplus()) {
      if (block.until < firstSequence) {
        gone.add(block);
        continue;
      }
      page.push(block);
      size += block.digests.length;
      if (size < this.#limits.page) continue;
      const number = (this.#pages.at(-1)?.number ?? 0) + 1;
      this.#pages.push({ number, until: Math.max(...page.map(({ until }) => until)) });
      pages.push({ number, digests: new Set(page.flatMap(({ digests }) => digests)) });
      for (const one of page) gone.add(one);
      [page, size] = [[], 0];
    }
    this.#blocks = this.#blocks.filter((block) => !gone.has(block));
    if (gone.size > 0) this.#known = null;
    return pages;
  }

  /** The oldest blocks, without which enough digests are left. */
  #surplus(): readonly Block[] {
    let left = this.size;
    let count = 0;
    for (const { digests } of this.#blocks) {
      left -= digests.length;
      if (left < this.#limits.kept) break;
      count += 1;
    }
    return this.#blocks.slice(0, count);
  }
}
