/** Attacks by single bodies: what takes long to read, and what takes much to hold. */
import { gzipSync } from 'node:zlib';
import { flood, type Attack } from './attacker.ts';

const MIB = 2 ** 20;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const zipped = (bytes: Buffer): Buffer => gzipSync(bytes, { level: 1 });

/** Texts that make careless patterns backtrack. */
const HEAVY_TEXTS = [
  `can you help${' with that please'.repeat(40)} parcel`,
  `Ich kann das nicht ${'abcde '.repeat(2000)}1`,
  `${'can you help me please '.repeat(5000)}x`,
  `${'a'.repeat(50_000)}@${'b'.repeat(50_000)}`,
  `${'1 2 3 4 5 6 7 8 9 0 '.repeat(10_000)}x`,
  `${'no, '.repeat(30_000)}not that`,
  `my name is ${"o'neill-".repeat(20_000)}`,
  `${'ok thanks '.repeat(20_000)}!`,
  '\n'.repeat(200_000),
  '😀'.repeat(100_000),
];

const hello = (member: object): object => ({ content: 'hi', ...member });

const emptyObjects = (): Buffer => zipped(Buffer.from(`{"messages":[${'{},'.repeat(10 * MIB)}{}]}`));
const wideMetadata = (): Buffer => {
  const metadata = { text: 'x'.repeat(3000) };
  return zipped(json({ messages: Array.from({ length: 9000 }, () => hello({ metadata })) }));
};
const largeMember = (): Buffer => zipped(json({ messages: [hello({ ['m'.repeat(8 * MIB)]: 1 })] }));
const largeTopMember = (): Buffer => zipped(json({ messages: [hello({})], ['m'.repeat(8 * MIB)]: 1 }));
const largeUserId = (): Buffer => zipped(json({ messages: [hello({ userId: 'u'.repeat(6 * MIB) })] }));
const largeMetadata = (): Buffer =>
  zipped(json({ messages: [hello({})], metadata: { session: { text: 'x'.repeat(24 * MIB) } } }));
const deep = (): Buffer => Buffer.from(`{"messages":${'['.repeat(500_000)}${']'.repeat(500_000)}}`);

/** One body over and over. It is made before the attack: its making is no load on the service. */
function posting(make: () => Buffer, { messages, isZipped }: Posted): Attack['prepare'] {
  return async (attacker) => {
    const pool = attacker.pool(2);
    const request = { body: make(), headers: isZipped ? { 'content-encoding': 'gzip' } : {} };
    return async () => {
      await attacker.ingest(pool, request, { instanceId: null, messages });
    };
  };
}

interface Posted {
  /** What is stored if it is accepted. */
  readonly messages: number;
  readonly isZipped: boolean;
}

const heavyTexts: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(2);
  const roles = ['user', 'assistant'];
  const bodies = HEAVY_TEXTS.map((content) => json({ messages: roles.map((role) => ({ role, content })) }));
  return async () => {
    for (const body of bodies) {
      if (attacker.ended) return;
      await attacker.ingest(pool, { body }, { instanceId: null, messages: roles.length });
    }
  };
};

/** All of it has to be read to see that its last message is refused. */
const refusedBodies: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(16);
  const content = 'where is my parcel please tell me now where is my parcel please tell';
  const messages = [...Array.from({ length: 640 }, () => ({ role: 'user', content })), { content: '' }];
  const body = JSON.stringify({ messages });
  return () =>
    flood(attacker, { perSecond: 1000, most: 64 }, () =>
      attacker.ingest(pool, { body }, { instanceId: null, messages: messages.length }),
    );
};

const ONE: Posted = { messages: 1, isZipped: true };

export const BODY_ATTACKS: readonly Attack[] = [
  {
    name: 'pattern-texts',
    what: 'texts of up to 200 kB that make patterns backtrack',
    everyMs: 5000,
    prepare: heavyTexts,
  },
  {
    name: 'refused-bodies',
    what: '1,000 bodies a second of 640 messages and an empty one, over 16 connections',
    everyMs: 0,
    prepare: refusedBodies,
  },
  {
    name: 'empty-objects',
    what: 'ten million empty objects as messages',
    everyMs: 4000,
    prepare: posting(emptyObjects, ONE),
  },
  {
    name: 'wide-metadata',
    what: '9,000 messages with 3 kB of metadata each',
    everyMs: 30_000,
    prepare: posting(wideMetadata, { messages: 9000, isZipped: true }),
  },
  { name: 'large-metadata', what: '24 MiB of metadata', everyMs: 7000, prepare: posting(largeMetadata, ONE) },
  { name: 'large-user-id', what: 'a userId of 6 MiB', everyMs: 6000, prepare: posting(largeUserId, ONE) },
  {
    name: 'large-member',
    what: 'a member of a message named by 8 MiB',
    everyMs: 6000,
    prepare: posting(largeMember, ONE),
  },
  {
    name: 'large-top-member',
    what: 'a member of the body named by 8 MiB',
    everyMs: 6000,
    prepare: posting(largeTopMember, ONE),
  },
  {
    name: 'deep-nesting',
    what: '500,000 arrays in one another',
    everyMs: 5000,
    prepare: posting(deep, { messages: 1, isZipped: false }),
  },
];
