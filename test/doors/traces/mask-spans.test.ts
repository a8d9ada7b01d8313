import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Masking } from '../../../src/domain/masking.ts';
import type { Observation } from '../../../src/doors/traces/observation.ts';
import { hasToken, withoutSeals } from '../../../src/doors/traces/tokens.ts';
import { openMaskThreads } from '../../../src/main/mask-threads.ts';
import { InstanceIndex, type Instance } from '../../../src/web/registry/instance-index.ts';

const ON: Masking = { texts: true, userIds: 'asSent' };
const IDS: Masking = { texts: false, userIds: 'digest' };
const MAIL = 'anna@example.com';

function spanOf(more: Partial<Observation> = {}): Observation {
  return {
    traceId: '1'.repeat(32),
    spanId: '1'.repeat(16),
    kind: 'chat',
    startedAt: 1,
    endedAt: 2,
    asked: [{ role: 'user', content: `I am Dorothy Pemberton, ${MAIL}` }],
    answered: [{ role: 'assistant', content: 'Dorothy, order 4839201 is on its way.' }],
    lacksContent: false,
    ...more,
  };
}

/** Masks the spans of a project with these instances. `instanceId`: the request names it. */
async function masked(
  instances: Readonly<Record<string, Masking>>,
  spans: readonly Observation[],
  { instanceId = null, folds = 1 }: { readonly instanceId?: string | null; readonly folds?: number } = {},
): Promise<Observation[]> {
  const index = new InstanceIndex();
  Object.entries(instances).forEach(([id, masking], number) => {
    const instance: Instance = { id, number, projectId: 'p', name: null, masking, createdAt: '2026' };
    index.put(instance, 1);
  });
  const threads = openMaskThreads({
    registry: {
      findInstance: async (id) => index.find(id) ?? null,
      maskingIn: (projectId) => index.masking(projectId),
      maskDigest: (parts) => createHmac('sha256', 's').update(JSON.stringify(parts)).digest('base64url'),
    },
    bodyBytes: 2 ** 24,
    folder: null,
    onThreadLost: () => undefined,
  });
  try {
    const drafts = Array.from({ length: folds }, () => new TextEncoder().encode(JSON.stringify(spans)));
    const named = spans.flatMap((span) => (span.instanceId === undefined ? [] : [span.instanceId]));
    const prepared = { drafts, instances: named.map((id) => [id, 1] as const) };
    const context = { caller: 'p', abandoned: () => false, mayBegin: () => undefined };
    const all = await threads.maskExport(prepared, { projectId: 'p', instanceId }, context);
    if (Object.values(instances).every(({ texts, userIds }) => !texts && userIds === 'asSent'))
      equal(all, drafts);
    return JSON.parse(Buffer.from(all.at(-1) ?? []).toString()) as Observation[];
  } finally {
    await threads.close();
  }
}

const isMasked = ({ asked }: Observation): boolean => hasToken(asked[0]?.content ?? '');
const lengthOf = ({ asked }: Observation): number => asked[0]?.content.length ?? 0;

describe('masking of an export', () => {
  it('puts tokens in place of values, of names also in what is said later', async () => {
    const [span] = await masked({ a: ON }, [spanOf()], { instanceId: 'a' });
    match(withoutSeals(span?.asked[0]?.content ?? ''), /^I am \[NAME:[\w-]{16}\], \[EMAIL:[\w-]{16}\]$/);
    match(
      withoutSeals(span?.answered[0]?.content ?? ''),
      /^\[NAME:[\w-]{16}\], order 4839201 is on its way\.$/,
    );
  });

  it('puts tokens into attributes, whose names say what a number is', async () => {
    const attributes = { contact: MAIL, passport_no: 'L01X00T47', plan: 'pro', seats: 4839201 };
    const [span] = await masked({ a: ON }, [spanOf({ attributes })], { instanceId: 'a' });
    const { contact, passport_no: passport, ...rest } = span?.attributes ?? {};
    match(String(contact), /^\[EMAIL:/);
    match(String(passport), /^\[\w+:/);
    deepEqual(rest, { plan: 'pro', seats: 4839201 });
    const [open] = await masked({ a: IDS }, [spanOf({ attributes })], { instanceId: 'a' });
    deepEqual(open?.attributes, attributes);
  });

  it('is the same on a thread, and when it comes again', async () => {
    const here = await masked({ a: ON }, [spanOf()]);
    deepEqual(await masked({ a: ON }, [spanOf()], { folds: 200 }), here);
    deepEqual(await masked({ a: ON }, [spanOf(), spanOf()]), [...here, ...here]);
  });

  it('leaves an export of a project that masks nothing as it is', async () => {
    const nothing: Masking = { texts: false, userIds: 'asSent' };
    deepEqual(await masked({ a: nothing }, [spanOf()]), [spanOf()]);
  });

  it('follows the instance of the request, else of the span', async () => {
    const both = { a: ON, b: IDS };
    const [own, other] = [spanOf({ instanceId: 'a' }), spanOf({ instanceId: 'b' })];
    deepEqual((await masked(both, [own, other])).map(isMasked), [true, false]);
    deepEqual((await masked(both, [own, other], { instanceId: 'b' })).map(isMasked), [false, false]);
    deepEqual((await masked(both, [own, other], { instanceId: 'a' })).map(isMasked), [true, true]);
  });

  it('seals values of spans and log records whose instance is not known yet', async () => {
    const both = { a: ON, b: IDS };
    const spans = [spanOf(), spanOf({ kind: 'event', instanceId: 'b' }), spanOf({ instanceId: 'a' })];
    const [unnamed, event, named] = await masked(both, spans);
    equal(withoutSeals(unnamed?.asked[0]?.content ?? ''), withoutSeals(named?.asked[0]?.content ?? '?'));
    deepEqual([lengthOf(unnamed!) > lengthOf(named!), lengthOf(event!)], [true, lengthOf(unnamed!)]);
    equal(lengthOf((await masked({ a: ON }, [spanOf()]))[0]!), lengthOf(named!));
  });

  it('seals user ids where digests of them are stored, and ids of conversations that hold an address', async () => {
    const span = spanOf({ userId: MAIL, conversationId: `mail ${MAIL}` });
    const [ids] = await masked({ a: IDS }, [span]);
    deepEqual([isMasked(ids!), ids?.conversationId], [false, span.conversationId]);
    doesNotMatch(ids?.userId ?? '', /example/);
    const [texts] = await masked({ a: ON }, [span, spanOf({ conversationId: 'chat 1' })]);
    equal(texts?.userId, MAIL);
    doesNotMatch(texts?.conversationId ?? '', /example/);
    equal((await masked({ a: ON }, [spanOf({ conversationId: 'chat 1' })]))[0]?.conversationId, 'chat 1');
  });
});
