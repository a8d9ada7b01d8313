/** Covered by test/doors/import/importer.test.ts. */
import { isRefusal, type QueryAnswer } from './client.ts';
import type { ImportTarget } from './contract.ts';
import type { Conversation } from './mapper.ts';
import { earlierSessionIdsOf, sessionIdOf } from './sessions.ts';

/** Conversations that are looked up together: four ids each are as many as a query takes. */
const LOOKUP = 250;
/** Where an address may not be long: four 36-character ids each keep it below 8 KB. */
const SMALL_LOOKUP = 48;
/** The address is too long for whoever is before the service. */
const TOO_LONG = [400, 414, 431];

export interface FoundSessions {
  /** Of each conversation: its session, then those that earlier versions may have put it into. */
  readonly sessions: readonly (readonly string[])[];
  /** How many messages the service shows of those that it has. */
  readonly held: ReadonlyMap<string, number>;
}

/** Finds the sessions of conversations, and what the service has of them. */
export class SessionLookup {
  readonly #target: Pick<ImportTarget, 'issueSessionIds' | 'query'>;
  /** Null: nobody has asked yet. */
  #issues: boolean | null = null;
  #size = LOOKUP;

  constructor(target: Pick<ImportTarget, 'issueSessionIds' | 'query'>) {
    this.#target = target;
  }

  /** The service is older: it issues no session ids, and knows no deduplication ids. */
  get isOlder(): boolean {
    return this.#issues === false;
  }

  /** `isNew`: the instance had nothing before this import. Throws as the client does. */
  async find(
    instanceId: string,
    conversations: readonly Conversation[],
    { isNew }: { readonly isNew: boolean },
  ): Promise<FoundSessions> {
    const derived = conversations.map(({ source, id }) => sessionIdOf(instanceId, source, id));
    const issued = await this.#issuedTo(instanceId, conversations, derived);
    const sessions = conversations.map(({ source, id }, index) => {
      const own = issued.get(index);
      const earlier = isNew ? [] : earlierSessionIdsOf(instanceId, source, id);
      return [...(own === undefined ? [] : [own]), derived[index] as string, ...earlier];
    });
    return { sessions, held: isNew ? new Map() : await this.#heldOf(instanceId, sessions) };
  }

  /** By the conversation's place. Where the source is '', callers who go on live derive the id themselves. */
  async #issuedTo(
    instanceId: string,
    conversations: readonly Conversation[],
    derived: readonly string[],
  ): Promise<ReadonlyMap<number, string>> {
    const places = [...conversations.keys()].filter((place) => conversations[place]?.source !== '');
    if (this.#issues === false || (this.#issues === true && places.length === 0)) return new Map();
    // At first of one at least, to learn whether it can.
    const names = places.length === 0 ? derived.slice(0, 1) : places.map((place) => derived[place] as string);
    const issued = await this.#target.issueSessionIds(instanceId, names);
    // Another web than before: what it would be sent would go to other sessions.
    if (issued === null && this.#issues === true)
      throw new Error(
        'the service no longer issues session ids. Import again when all of it has one version.',
      );
    this.#issues = issued !== null;
    return new Map(issued === null ? [] : places.map((place, index) => [place, issued[index] as string]));
  }

  async #heldOf(instanceId: string, sessions: FoundSessions['sessions']): Promise<FoundSessions['held']> {
    const counts = new Map<string, number>();
    const size = this.#size;
    for (let from = 0; from < sessions.length; from += size) {
      const ids = sessions.slice(from, from + size).flat();
      let answer: QueryAnswer;
      try {
        answer = await this.#target.query({
          groupBy: 'SESSION',
          instanceId,
          fields: 'messages',
          ids: ids.join(','),
          limit: String(ids.length),
        });
      } catch (error) {
        const isLong = isRefusal(error) && TOO_LONG.includes(error.status);
        if (!isLong || size === SMALL_LOOKUP) throw error;
        this.#size = SMALL_LOOKUP;
        return this.#heldOf(instanceId, sessions);
      }
      for (const { dimensions, fields } of answer.elements) {
        const session: unknown = dimensions['session'];
        const id = typeof session === 'object' && session !== null && 'id' in session ? session.id : null;
        if (typeof id === 'string' && typeof fields['messages'] === 'number')
          counts.set(id, fields['messages']);
      }
    }
    return counts;
  }
}
