/**
 * Finds the sessions of conversations and how many messages the service holds of each. Keeps the invariant that the
 * session of a source and id is the same in every import.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import { v5 } from 'uuid';
import { isRefusal, type QueryAnswer } from './client.ts';
import type { ImportTarget } from './contract.ts';
import { nameOf, type Conversation } from './mapper.ts';

/** Conversations per query: four ids each reach the maximum of ids in a query. */
const LOOKUP = 250;
/** Conversations per query behind a proxy with short URLs: four ids of 36 characters each stay below 8 KB. */
const SMALL_LOOKUP = 48;
/** Statuses of proxies for a URL that is too long. */
const TOO_LONG = [400, 414, 431];

export interface FoundSessions {
  /** For each conversation: its session, then the sessions that earlier versions may have used. */
  readonly sessions: readonly (readonly string[])[];
  /** Session id → messages that the service returns for it. */
  readonly held: ReadonlyMap<string, number>;
}

/** Looks up sessions; falls back to shorter URLs and to derived ids where the service needs that. */
export class SessionLookup {
  readonly #target: Pick<ImportTarget, 'issueSessionIds' | 'query'>;
  /** True if the service issues session ids; null before the first request. */
  #issues: boolean | null = null;
  #size = LOOKUP;

  constructor(target: Pick<ImportTarget, 'issueSessionIds' | 'query'>) {
    this.#target = target;
  }

  /** True if the service is too old to know session ids and deduplication ids. */
  get isOlder(): boolean {
    return this.#issues === false;
  }

  /** `isNew`: the instance was empty before this import. Throws the client's errors. */
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

  /**
   * Issues session ids, by the conversation's index. Without a source there is none: live callers derive that id
   * themselves.
   */
  async #issuedTo(
    instanceId: string,
    conversations: readonly Conversation[],
    derived: readonly string[],
  ): Promise<ReadonlyMap<number, string>> {
    const places = [...conversations.keys()].filter((place) => conversations[place]?.source !== '');
    if (this.#issues === false || (this.#issues === true && places.length === 0)) return new Map();
    // The first request has at least one name, to learn if the service issues ids.
    const names = places.length === 0 ? derived.slice(0, 1) : places.map((place) => derived[place] as string);
    const issued = await this.#target.issueSessionIds(instanceId, names);
    // An older web process answers: messages sent through it would go to other sessions.
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

/** Namespace of the session ids that earlier versions derived. */
const EARLIER_NAMESPACE = '5b0b3f0e-7c1d-5f4e-9a57-0c6b4d2f8e11';

/**
 * Names a conversation's session by a UUIDv5 in the namespace of its instance. It is the session id where the service
 * issues none. With source '' the name is the id alone, as docs/concepts.md describes for callers with their own ids.
 */
export function sessionIdOf(instanceId: string, source: string, id: string): string {
  return v5(source === '' ? id : nameOf(source, id), instanceId.toLowerCase());
}

/** Session ids of earlier versions: their conversations are continued there. */
export function earlierSessionIdsOf(instanceId: string, source: string, id: string): string[] {
  if (source === '') return [];
  const first = v5(nameOf(source, id), EARLIER_NAMESPACE);
  return [v5(first, v5(instanceId.toLowerCase(), EARLIER_NAMESPACE)), first];
}
