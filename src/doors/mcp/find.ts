/**
 * Resolves names that a model gives to instances and entities. An unknown or ambiguous instance is an error that
 * lists the choices.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { UUID_PATTERN } from '../../domain/ids.ts';
import type { QueryResponse } from '../../query/response-schema.ts';
import { cell, neutral } from './data-text.ts';
import { KINDS, type KindName } from './kinds.ts';
import { counted } from './numbers.ts';
import type { InstanceName, Reading } from './reading.ts';
import { ToolError } from './tool.ts';

/** Maximum choices in an error. */
const MOST_CHOICES = 15;
/** Largest page of the API. */
export const LARGEST_PAGE = 10_000;

/** An entity found by name or id. */
export interface Found {
  readonly id: string;
  readonly name: string;
}

/**
 * Resolves an instance: by id, by name, the only one of the project, or the only one with sessions.
 *
 * @throws ToolError that lists the instances
 */
export async function findInstance(reading: Reading, given: string | undefined): Promise<string> {
  if (given !== undefined && UUID_PATTERN.test(given)) return given.toLowerCase();
  const { elements, pagination } = await reading.instances({ limit: '1000' });
  const [only] = elements;
  if (only === undefined)
    throw new ToolError('The project of this key has no instance: nothing was sent yet.', []);
  if (given === undefined && pagination.total === 1) return only.id;
  const matches = given === undefined ? elements : best(elements, given, ({ name }) => name ?? '');
  const [match] = matches;
  if (match !== undefined && matches.length === 1) return match.id;
  const candidates = await withSessions(reading, matches.length === 0 ? elements : matches);
  const inUse = candidates.filter(({ sessions }) => sessions > 0);
  if (given === undefined && elements.length <= MOST_CHOICES && inUse.length === 1) return inUse[0]?.id ?? '';
  const problem =
    given === undefined
      ? `The project has ${pagination.total} instances.`
      : `${matches.length === 0 ? 'No instance is' : `${matches.length} instances are`} called "${given}".`;
  throw new ToolError(
    `${problem} Give the id of one as instance.`,
    candidates.map(
      ({ id, name, sessions }) => `${id} | ${cell(neutral(name ?? ''))} | ${counted(sessions, 'session')}`,
    ),
  );
}

/** Returns the first instances with their number of sessions. */
async function withSessions(
  reading: Reading,
  instances: readonly InstanceName[],
): Promise<(InstanceName & { readonly sessions: number })[]> {
  return Promise.all(
    instances.slice(0, MOST_CHOICES).map(async (instance) => {
      const asked = { instanceId: instance.id, groupBy: 'SESSION', fields: 'messages', limit: '1' };
      return { ...instance, sessions: (await reading.query(asked)).pagination.total };
    }),
  );
}

/**
 * Resolves entities by id or part of a name, most sessions first; an end user by the whole name.
 *
 * @throws ToolError that lists some names
 */
export async function findEntities(
  reading: Reading,
  instanceId: string,
  kind: KindName,
  given: string,
): Promise<readonly Found[]> {
  if (UUID_PATTERN.test(given)) return [{ id: given.toLowerCase(), name: '' }];
  const all = await listed(reading, instanceId, kind, given);
  const matches = best(all, given, ({ name }) => name);
  if (matches.length > 0) return matches;
  const { word } = KINDS[kind];
  throw new ToolError(
    `No ${word} matches "${given}". Use a name or id as the tool topics lists them (kind ${kind})` +
      (kind === 'topics' ? ', or look for words in titles (tool conversations, title).' : '.'),
    all.slice(0, MOST_CHOICES).map(({ id, name }) => `${id} | ${cell(neutral(name))}`),
  );
}

async function listed(
  reading: Reading,
  instanceId: string,
  kind: KindName,
  given: string,
): Promise<readonly Found[]> {
  const { groupBy, dimensionFields } = KINDS[kind];
  const { elements } = await reading.query({
    instanceId,
    groupBy,
    fields: 'sessions',
    limit: String(LARGEST_PAGE),
    'sort.field': 'sessions',
    ...(dimensionFields === '' ? {} : { dimensionFields }),
    ...(kind === 'users' ? { externalId: given } : {}),
  });
  return elements.map((element) => entityOf(kind, element));
}

/** Returns the entity of a row. */
export function entityOf(kind: KindName, { dimensions }: QueryResponse['elements'][number]): Found {
  const entity = dimensions[KINDS[kind].dimension] as
    | { readonly id: string; readonly name?: string; readonly externalId?: string }
    | undefined;
  return { id: entity?.id ?? '', name: entity?.name ?? entity?.externalId ?? '' };
}

/** Returns the type of a signal (SAT, DSAT) or gap (TOOL, KNOWLEDGE); empty for others. */
export function typeOf(
  kind: KindName,
  { dimensions }: QueryResponse['elements'][number],
): { readonly type?: string } {
  const entity = dimensions[KINDS[kind].dimension] as
    | { readonly signalType?: string; readonly gapType?: string }
    | undefined;
  const type = entity?.signalType ?? entity?.gapType;
  return type === undefined ? {} : { type };
}

/** Returns the items with exactly this name, otherwise those whose names contain all its words. */
export function best<Item>(
  items: readonly Item[],
  given: string,
  nameOf: (item: Item) => string,
): readonly Item[] {
  const wanted = folded(given);
  const named = items.map((item) => ({ item, name: folded(nameOf(item)) }));
  const exact = named.filter(({ name }) => name === wanted);
  if (exact.length > 0) return exact.map(({ item }) => item);
  const words = wordsOf(wanted);
  return named
    .filter(({ name }) => {
      if (name.includes(wanted)) return true;
      const own = wordsOf(name);
      return words.length > 0 && words.every((word) => own.some((other) => alike(word, other)));
    })
    .map(({ item }) => item);
}

function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .trim();
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** True for words that differ in their endings: refund and refunds, cancel and cancellation. */
function alike(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  if (shorter < 4) return a === b;
  let same = 0;
  while (same < shorter && a[same] === b[same]) same += 1;
  return same >= 4 && same >= 0.75 * shorter;
}
