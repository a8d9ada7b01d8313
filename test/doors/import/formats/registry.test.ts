import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import fastCheck from 'fast-check';
import { ServiceClient } from '../../../../src/doors/import/client.ts';
import { SURE, type Sample, type Shape } from '../../../../src/doors/import/formats/format.ts';
import { FORMATS } from '../../../../src/doors/import/formats/registry.ts';
import { guessMapping } from '../../../../src/doors/import/formats/mapping.ts';
import { tableFormat } from '../../../../src/doors/import/formats/table.ts';
import { importPlanned } from '../../../../src/doors/import/importer.ts';
import type { Finding, ImportSummary } from '../../../../src/doors/import/contract.ts';
import { openInputs } from '../../../../src/doors/import/inputs.ts';
import { joined, planFile, type FilePlan } from '../../../../src/doors/import/plan.ts';
import { createBodyParser } from '../../../../src/web/ingest/request-body.ts';
import { writeParquet } from '../../../../src/store/parquet.ts';
import { FakeService } from '../fake-service.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

let service: FakeService;
let url: string;
/** What the real service would refuse, or warn of. */
let reported: unknown[];

/** As the service itself reads them. */
const parseBody = createBodyParser(() => Date.parse('2026-12-01') * 1000);

beforeEach(async () => {
  service = new FakeService();
  reported = [];
  service.disturb = (body) => {
    try {
      const { header } = parseBody(body).warnings;
      if (header !== null) reported.push(header);
    } catch (error) {
      reported.push(error);
    }
    return null;
  };
  url = await service.listen();
});
afterEach(async () => {
  await service.close();
  deepEqual(reported, []);
});

async function planOf(name: string): Promise<FilePlan> {
  const { inputs } = await openInputs([resolve(FIXTURES, name)]);
  const [input] = inputs;
  ok(input);
  const plan = await planFile(input);
  ok('format' in plan, `${name} is not recognised`);
  return plan;
}

async function send(
  plans: readonly FilePlan[],
  user?: string,
): Promise<{ summary: ImportSummary; failures: readonly Finding[] }> {
  const failures: Finding[] = [];
  const summary = await importPlanned({
    plans,
    ...(user === undefined ? {} : { user }),
    into: { kind: 'default' },
    target: new ServiceClient({ url, key: service.key, backoffMs: 1, patienceMs: 2000 }),
    concurrency: 8,
    observer: { failure: (finding) => failures.push(finding) },
  });
  equal(summary.stopped, null);
  return { summary, failures };
}

interface Expected {
  readonly format: string;
  readonly sessions: number;
  readonly messages: number;
  readonly users: number;
  readonly leftOut: Readonly<Record<string, number>>;
  /** Places that are not imported. */
  readonly failed: readonly number[];
}

/** By fixture. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  'openai.jsonl': {
    format: 'openai',
    sessions: 3,
    messages: 9,
    users: 3,
    leftOut: { image: 1, 'tool call': 1 },
    failed: [4, 5],
  },
  'openai-batch-input.jsonl': {
    format: 'openai-batch',
    sessions: 3,
    messages: 4,
    users: 3,
    leftOut: {},
    failed: [],
  },
  'chatgpt.json': {
    format: 'chatgpt',
    sessions: 3,
    messages: 8,
    users: 3,
    leftOut: {
      'conversation without text': 1,
      'hidden message': 1,
      image: 1,
      'message of another branch': 1,
      reasoning: 1,
      'system prompt': 1,
      'tool call': 1,
      'tool result': 1,
    },
    failed: [],
  },
  'claude.json': {
    format: 'claude',
    sessions: 2,
    messages: 5,
    users: 1,
    leftOut: { attachment: 2, 'conversation without text': 1, reasoning: 1 },
    failed: [],
  },
  'sharegpt.json': {
    format: 'sharegpt',
    sessions: 2,
    messages: 7,
    users: 2,
    leftOut: { 'conversation without text': 1, 'tool call': 1, 'tool result': 1 },
    failed: [3],
  },
  'lmsys.jsonl': { format: 'lmsys', sessions: 2, messages: 6, users: 2, leftOut: {}, failed: [] },
  'wildchat.jsonl': {
    format: 'lmsys',
    sessions: 2,
    messages: 3,
    users: 2,
    leftOut: { 'message without text': 1 },
    failed: [],
  },
  'intercom.json': {
    format: 'intercom',
    sessions: 2,
    messages: 6,
    users: 2,
    leftOut: {
      'conversation without text': 1,
      event: 1,
      'internal note': 1,
      'part that the export lacks': 1,
    },
    failed: [],
  },
  'zendesk.jsonl': {
    format: 'zendesk',
    sessions: 2,
    messages: 4,
    users: 3,
    leftOut: { 'internal note': 1 },
    failed: [3],
  },
  'langfuse.jsonl': {
    format: 'langfuse',
    sessions: 4,
    messages: 12,
    users: 4,
    leftOut: { 'step inside a trace': 1, 'step without messages': 1, 'system prompt': 2 },
    failed: [],
  },
  'langsmith.jsonl': {
    format: 'langsmith',
    sessions: 2,
    messages: 6,
    users: 2,
    leftOut: { 'step inside a trace': 1 },
    failed: [],
  },
  'whatsapp.txt': {
    format: 'whatsapp',
    sessions: 2,
    messages: 4,
    users: 1,
    leftOut: { 'media or notice of WhatsApp': 3 },
    failed: [10],
  },
  'table.csv': {
    format: 'table',
    sessions: 3,
    messages: 6,
    users: 3,
    leftOut: { 'row without text': 1 },
    failed: [9, 10],
  },
};

/** Names of members that formats look for and no fixture has. */
const MORE_NAMES = (
  'messages turns conversation text type user source content role ts thread_ts bot_id blocks attachments elements ' +
  'generations question prompt total_count description'
).split(' ');

/** The names of members in a fixture, also those in JSON within its strings, and the columns of a table. */
function namesInFixture(name: string): string[] {
  const text = readFileSync(join(FIXTURES, name), 'utf8');
  if (name.endsWith('.csv')) return (text.split('\n')[0] ?? '').split(/[,;]/);
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string') collect(/^[[{]/.test(value) ? parsed(value) : null);
    else if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) {
        if (!Array.isArray(value)) names.add(key);
        collect(member);
      }
  };
  for (const part of name.endsWith('.json') ? [text] : text.split('\n')) collect(parsed(part));
  return [...names];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

describe('the formats', () => {
  it('have a fixture that is described, and a place in docs/import.md', () => {
    const readme = readFileSync(join(FIXTURES, 'README.md'), 'utf8');
    const files = readdirSync(FIXTURES).filter((name) => name !== 'README.md');
    deepEqual(
      files.filter((name) => !readme.includes(`\`${name}\``)),
      [],
    );
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/import.md'), 'utf8');
    deepEqual(
      FORMATS.filter(({ name }) => !page.includes(`| \`${name}\``)).map(({ name }) => name),
      [],
    );
  });

  for (const [name, expected] of Object.entries(EXPECTED)) {
    it(`counts ${name} as it is, and nothing twice`, async () => {
      const plan = await planOf(name);
      equal(plan.format.name, expected.format);
      ok(plan.recognition.confidence >= SURE, `unsure: ${plan.recognition.reason}`);
      const { summary, failures } = await send([plan]);
      const { sessions, messages, users } = expected;
      deepEqual(service.countOf(), { sessions, messages, users });
      deepEqual([summary.conversations, summary.messages], [sessions, messages]);
      deepEqual(Object.fromEntries(summary.leftOut), expected.leftOut);
      deepEqual(
        failures.map(({ line }) => line),
        expected.failed,
      );
      service.claims.clear();
      const again = await send([plan]);
      deepEqual(
        [again.summary.conversations, again.summary.alreadyThere, again.summary.messagesAlreadyThere],
        [0, sessions, messages],
      );
      deepEqual(service.countOf(), { sessions, messages, users });
    });
  }

  it('takes the path of ChatGPT that was shown last, with its times and title', async () => {
    await send([await planOf('chatgpt.json')]);
    const [boots] = [...service.sessions.values()];
    deepEqual(
      boots?.messages.map(({ role, content, metadata }) => [role, content, metadata?.['createdAt']]),
      [
        ['user', 'My new boots leak after an hour of rain', '2026-03-01T09:30:00.500Z'],
        ['assistant', 'Let them dry and wax the seams.', '2026-03-01T09:30:10.250Z'],
        ['user', 'Which wax?', '2026-03-01T09:30:20.000Z'],
        ['assistant', 'One without silicone.', '2026-03-01T09:30:25.000Z'],
      ],
    );
    deepEqual(boots?.metadata, {
      title: 'Boots',
      externalId: 'conv-boots',
      source: 'chatgpt',
      id: 'conv-boots',
    });
  });

  it('takes one end user for all conversations that name none', async () => {
    await send([await planOf('chatgpt.json'), await planOf('claude.json')], 'ana');
    const users = [...service.sessions.values()].flatMap(({ messages }) =>
      messages.map(({ userId }) => userId),
    );
    deepEqual([...new Set(users)].toSorted(), ['acc-1', 'ana', undefined]);
  });

  it('puts the rows of a table in order by time, with quotes and line breaks as they are', async () => {
    await send([await planOf('table.csv')]);
    const [first] = [...service.sessions.values()];
    deepEqual(
      first?.messages.map(({ role, content, userId }) => [role, userId ?? null, content]),
      [
        ['customer', 'ana', 'Where is my sleeping bag?\nIt was due on Friday; I need it'],
        ['customer', 'ana', 'Hello?'],
        ['agent', null, 'It is with the "night" courier.'],
      ],
    );
  });

  it('counts history that every call repeats once, in order, with the times of its traces', async () => {
    await send([await planOf('langfuse.jsonl')]);
    const turnsOf = (id: string): (string | null)[][] => {
      const session = [...service.sessions.values()].find(
        ({ metadata }) => (metadata as { id: string }).id === id,
      );
      return (session?.messages ?? []).map(({ role, content, userId }) => [role, content, userId ?? null]);
    };
    deepEqual(turnsOf('s1'), [
      ['user', 'Is the pass open?', 'ana'],
      ['assistant', 'Yes, since May.', null],
      ['user', 'And the hut?', 'ana'],
      ['assistant', 'From June on.', null],
    ]);
    deepEqual(turnsOf('s2'), [
      ['user', 'How far is the lake?', 'bo'],
      ['assistant', 'Four kilometres.', null],
    ]);
    deepEqual(turnsOf('s3'), [
      ['user', 'yes', 'cy'],
      ['assistant', 'Fine.', null],
      ['user', 'yes', 'cy'],
      ['assistant', 'Fine again.', null],
    ]);
  });

  it('puts requests and responses of a batch together, and tells those that lack the other', async () => {
    const names = ['openai-batch-input.jsonl', 'openai-batch-output.jsonl'];
    const both = await Promise.all(names.map(planOf));
    const [plan, ...others] = joined(both);
    ok(plan && others.length === 0);
    const { summary } = await send([plan]);
    deepEqual(service.countOf(), { sessions: 3, messages: 6, users: 3 });
    deepEqual(Object.fromEntries(summary.leftOut), { reasoning: 1, 'request that failed': 1 });
    const alone = await send(both.slice(1));
    deepEqual([alone.summary.messages, [...alone.summary.leftOut.values()]], [0, [2, 1]]);
    const twice = await send(joined([...both, ...both]));
    deepEqual([twice.summary.messages, twice.failures.length], [0, 3]);
    match(twice.failures[0]?.message ?? '', /^custom_id "guest-1": is in several requests/);
  });

  it('reads Parquet as it reads JSON, packed or not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'undertone-parquet-test-'));
    try {
      for (const name of ['langsmith', 'wildchat']) {
        const file = join(folder, `${name}.parquet`);
        await writeParquet(join(FIXTURES, `${name}.jsonl`), file, 1);
        await writeFile(`${file}.gz`, gzipSync(await readFile(file)));
        const expected = EXPECTED[`${name}.jsonl`];
        for (const path of [file, `${file}.gz`]) {
          service.forget();
          const plan = await planOf(path);
          deepEqual([plan.parts[0].layout.shape, plan.format.name], ['parquet', expected?.format]);
          await send([plan]);
          const { sessions, messages } = service.countOf();
          deepEqual([sessions, messages], [expected?.sessions, expected?.messages]);
        }
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('names a conversation without an id by what was said, wherever it stands', async () => {
    const { inputs } = await openInputs([join(FIXTURES, 'sharegpt.json')]);
    const [input] = inputs;
    ok(input);
    const text = async function* (value: unknown): AsyncGenerator<Buffer> {
      yield Buffer.from(JSON.stringify(value));
    };
    const chat = (text: string): unknown => ({ conversations: [{ from: 'human', value: text }] });
    const idsOf = async (value: unknown): Promise<unknown[]> => {
      const plan = await planFile({ ...input, open: () => text(value) });
      ok('format' in plan);
      await send([plan]);
      return [...service.sessions.values()].map(({ metadata }) => (metadata as { id: string }).id);
    };
    const one = await idsOf([chat('how do I fold it?'), chat('it is too small')]);
    const other = await idsOf([chat('something new'), chat('it is too small'), chat('how do I fold it?')]);
    equal(other.length, 3);
    deepEqual(other.slice(0, 2), one);
  });

  it('takes anything as a sample and as an entry, and never throws', () => {
    const valueOf = (names: readonly string[]): fastCheck.Arbitrary<unknown> =>
      fastCheck.letrec((tie) => ({
        value: fastCheck.oneof(
          { maxDepth: 5, depthSize: 'medium' },
          fastCheck.constantFrom(null, '', 'a', 'user', 0, 1, Number.NaN, true),
          fastCheck.array(tie('value'), { maxLength: 3 }),
          fastCheck.dictionary(fastCheck.constantFrom(...names), tie('value'), { maxKeys: 5 }),
        ),
      })).value;
    const pools = [MORE_NAMES, ...readdirSync(FIXTURES).map(namesInFixture)];
    const nested = fastCheck.oneof(...pools.filter(({ length }) => length > 0).map(valueOf));
    const shapes: readonly Shape[] = ['json', 'jsonl', 'csv', 'parquet', 'chat'];
    fastCheck.assert(
      fastCheck.property(
        fastCheck.array(nested, { maxLength: 4 }),
        fastCheck.constantFrom(...shapes),
        (values, shape) => {
          const sample: Sample = { shape, name: 'x', values };
          const guess = guessMapping(sample);
          const formats = [...FORMATS, ...(guess === null ? [] : [tableFormat(guess.mapping)])];
          for (const format of formats) {
            const confidence = format.recognise(sample)?.confidence ?? 0;
            ok(confidence >= 0 && confidence <= 1);
            for (const value of values) {
              if (format.kind === 'entries') format.read(value);
              else {
                const placed = format.place(value, 'file');
                if ('kept' in placed) format.assemble(placed.part, [placed.kept]);
              }
            }
          }
        },
      ),
      { seed: 16, numRuns: 800 },
    );
  });
});
