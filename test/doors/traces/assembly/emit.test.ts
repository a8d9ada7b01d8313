import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sendEmission } from '../../../../src/doors/traces/assembly/emit.ts';
import { MergedSpans } from '../../../../src/doors/traces/assembly/merged-spans.ts';
import type { Conversation, Emission } from '../../../../src/doors/traces/assembly/records.ts';
import type { EmittedRequest } from '../../../../src/doors/traces/assembly/thread-protocol.ts';

const CONVERSATION: Conversation = {
  projectId: 'p',
  name: { instanceId: 'i', id: 'c' },
  turns: [],
  merged: new MergedSpans(),
  forgotten: false,
  outbox: [],
  emissions: 1,
};
const message = (content: string) => ({ role: 'user', content, at: 1e15 }) as const;
const EMISSION: Emission = {
  seed: 's',
  acceptedAt: 1e15,
  since: 1,
  messages: [message('before'), message('after 1'), message('after 2')],
  runs: [1, 2],
};

/** Sends an emission to a door that refuses what holds a text; returns what was sent, and whether it was taken. */
async function sent(emission: Emission, refused: string): Promise<(readonly [string, string[], boolean])[]> {
  const requests: (readonly [string, string[], boolean])[] = [];
  await sendEmission(
    {
      emit: async ({ seed, bytes }: EmittedRequest) => {
        const { messages } = JSON.parse(`{${Buffer.from(bytes).toString().slice(1)}`) as Pick<
          Emission,
          'messages'
        >;
        const contents = messages.map(({ content }) => content);
        const isTaken = !contents.includes(refused);
        requests.push([seed, contents, isTaken]);
        return isTaken;
      },
    },
    CONVERSATION,
    emission,
  );
  return requests;
}

describe('an emission', () => {
  const all = ['before', 'after 1', 'after 2'];

  it('is one request', async () => {
    deepEqual(await sent(EMISSION, ''), [['s', all, true]]);
  });

  it('carries the attributes of the conversation beside its name, divided or not', async () => {
    const sessions: unknown[] = [];
    const emit = async ({ bytes }: EmittedRequest): Promise<boolean> => {
      const { metadata } = JSON.parse(`{${Buffer.from(bytes).toString().slice(1)}`) as {
        readonly metadata: { readonly session: unknown };
      };
      sessions.push(metadata.session);
      return false;
    };
    await sendEmission({ emit }, CONVERSATION, { ...EMISSION, attributes: { plan: 'pro', seats: 3 } });
    deepEqual(sessions, Array(3).fill({ plan: 'pro', seats: 3, externalId: 'c' }));
  });

  it('says what a message took in its metadata', async () => {
    const metadata: unknown[] = [];
    const emit = async ({ bytes }: EmittedRequest): Promise<boolean> => {
      const { messages } = JSON.parse(`{${Buffer.from(bytes).toString().slice(1)}`) as {
        readonly messages: readonly { readonly metadata?: unknown }[];
      };
      metadata.push(...messages.map((one) => one.metadata));
      return true;
    };
    const usage = { inputTokens: 812, outputTokens: null, costNanos: 1_250_000 };
    const messages = [message('before'), { ...message('after 1'), usage }];
    await sendEmission({ emit }, CONVERSATION, { ...EMISSION, messages });
    deepEqual(metadata, [undefined, { inputTokens: 812, costUsd: 0.00125 }]);
  });

  it('that is refused loses the messages of the trace that is to blame', async () => {
    deepEqual(await sent(EMISSION, 'before'), [
      ['s', all, false],
      ['s:0', ['before'], false],
      ['s:1', ['after 1', 'after 2'], true],
    ]);
  });

  it('of one trace, or of an earlier version, is not divided', async () => {
    const { runs: _, ...earlier } = EMISSION;
    for (const emission of [earlier, { ...EMISSION, runs: [3] }])
      deepEqual(await sent(emission, 'before'), [['s', all, false]]);
  });
});
