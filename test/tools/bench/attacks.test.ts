/** What attacks send and make of their answers, without a service. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Attacker, runAttack, type Attack } from '../../../tools/bench/load/attacks/attacker.ts';
import { ATTACKS, keysNeeded } from '../../../tools/bench/load/attacks/attacks.ts';
import { countsOf } from '../../../tools/bench/load/attacks/counts.ts';
import { balance, Ledger } from '../../../tools/bench/load/attacks/ledger.ts';
import { floodBodies } from '../../../tools/bench/load/attacks/messages.ts';
import { answersExport, halfTracesExport, rejectedSpans } from '../../../tools/bench/load/attacks/spans.ts';
import { ConnectionPool, NotSentError, paced } from '../../../tools/bench/load/http-load.ts';
import { AttackedServer } from '../../support/attacked-server.ts';
import { field, varintAt } from '../../support/otlp.ts';

let server: AttackedServer;
before(async () => {
  server = await AttackedServer.start();
});
after(() => server?.stop());
beforeEach(() => {
  server.instead = () => null;
  server.received.length = 0;
  server.counts.clear();
});

/** One salvo of an attack in small; what its preparation sent is forgotten. */
async function salvoOf(name: string): Promise<Attacker> {
  const attack = ATTACKS.find((known) => known.name === name);
  ok(attack !== undefined, name);
  const keys = Array.from({ length: attack.keys ?? 1 }, (_, number) => `key ${number}`);
  const attacker = new Attacker({ url: server.url, keys, size: 'small', shared: new Map() });
  const salvo = await attack.prepare(attacker);
  server.received.length = 0;
  attacker.beginUntil(performance.now() + 60_000);
  await runAttack({ ...attack, salvos: 1 }, attacker, salvo);
  attacker.close();
  return attacker;
}

const paths = (): string[] => [...new Set(server.received.map(({ path }) => path.split('?')[0] ?? ''))];
const keysUsed = (): number => new Set(server.received.map(({ key }) => key)).size;

describe('attacks', () => {
  it('have names of their own, and say what they do', () => {
    equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length);
    for (const { name, what } of ATTACKS) match(`${name}: ${what}`, /^[a-z-]+: \S.{10,100}$/);
  });

  for (const { name, keys = 1 } of ATTACKS.filter((attack) => !attack.name.startsWith('stalled'))) {
    it(`${name} puts into its ledger what is stored`, async () => {
      const attacker = await salvoOf(name);
      ok(server.received.length > 0);
      ok(attacker.tally.count > 0);
      deepEqual(attacker.tally.faults, []);
      const exact = attacker.ledger.entries().filter(({ unknown }) => unknown === 0);
      if (paths().some((path) => path.startsWith('/v1/ingest'))) {
        const accepted = exact.map(({ instanceId, accepted: messages }) => [instanceId, messages]);
        deepEqual(new Map(accepted as [string, number][]), server.counts);
      }
      if (keys > 1) ok(keysUsed() > 1 && keysUsed() <= keys);
    });
  }

  it('go to the doors that they name', async () => {
    const doors: Record<string, string[]> = {};
    for (const name of [
      'trace-answers',
      'full-answers',
      'waiters',
      'mcp-why',
      'openapi',
      'metrics',
      'docs',
      'equal-spans',
      'curations',
      'silent-receivers',
    ]) {
      await salvoOf(name);
      doors[name] = paths();
      server.received.length = 0;
    }
    deepEqual(doors, {
      'trace-answers': ['/v1/traces'],
      'full-answers': ['/v1/query/'],
      waiters: ['/v1/query/'],
      'mcp-why': ['/mcp'],
      openapi: ['/openapi.json'],
      metrics: ['/metrics'],
      docs: [
        '/docs/static/swagger-ui.css',
        '/docs/static/../../../../etc/passwd',
        '/docs/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
      ],
      'equal-spans': ['/v1/traces'],
      curations: ['/v1/curations/'],
      'silent-receivers': ['/v1/alerts/an-alert/test/'],
    });
  });

  it('need as many keys of a project as the attack with the most', () => {
    const of = (name: string, project: string, keys: number): Attack =>
      ({ name, project, keys, what: '', everyMs: 0, prepare: async () => async () => undefined }) as const;
    deepEqual(
      keysNeeded([of('a', 'p', 2), of('b', 'p', 8), of('c', 'q', 1)]),
      new Map([
        ['p', 8],
        ['q', 1],
      ]),
    );
  });
});

/** The bodies of the fields of a protobuf message with that number. */
function fieldsOf(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < message.length;) {
    const tag = varintAt(message, at);
    if (tag.value % 8 === 1) {
      at = tag.end + 8;
      continue;
    }
    const length = varintAt(message, tag.end);
    at = length.end + length.value;
    if (Math.floor(tag.value / 8) === wanted) found.push(message.subarray(length.end, at));
  }
  return found;
}

const spansOf = (body: Buffer): Buffer[] => {
  const [resource = Buffer.alloc(0)] = fieldsOf(zstdDecompressSync(body), 1);
  const [scope = Buffer.alloc(0)] = fieldsOf(resource, 2);
  return fieldsOf(scope, 2);
};

describe('what attacks send', () => {
  it('is 4 KB that become 24 MB: 80 spans of one trace, each with 9,000 answers', () => {
    const body = answersExport({ spans: 80, answers: 9000 });
    ok(body.length < 8192, `${body.length} bytes`);
    const spans = spansOf(body);
    equal(spans.length, 80);
    equal(new Set(spans.map((span) => fieldsOf(span, 1)[0]?.toString('hex'))).size, 1);
    equal(new Set(spans.map((span) => fieldsOf(span, 2)[0]?.toString('hex'))).size, 80);
    equal(spans[79]?.toString().match(/"role":"assistant"/g)?.length, 9000);
  });

  it('is the same spans as a trace each, of one conversation', () => {
    const spans = spansOf(answersExport({ spans: 45, answers: 20, areTraces: true }));
    equal(new Set(spans.map((span) => fieldsOf(span, 1)[0]?.toString('hex'))).size, 45);
    equal(new Set(spans.map((span) => /conversation\.id\W+([\w-]+)/.exec(span.toString())?.[1])).size, 1);
  });

  it('is few messages for each of many instances, in requests or in the lines of a batch', async () => {
    for (const name of ['many-instances', 'many-instance-lines']) {
      server.counts.clear();
      await salvoOf(name);
      equal(server.counts.size, 3, name);
      ok([...server.counts.values()].every((messages) => messages <= 400));
    }
  });

  it('is a body whose last message alone is refused', async () => {
    await salvoOf('refused-bodies');
    const [{ body = Buffer.alloc(0) } = {}] = server.received;
    const { messages } = JSON.parse(body.toString()) as { readonly messages: readonly { content: string }[] };
    ok(body.length > 60_000 && body.length < 2 ** 16);
    deepEqual(
      messages.map(({ content }) => content === ''),
      messages.map((_, index) => index === messages.length - 1),
    );
  });

  it('is spans that are each a trace of its own, with a parent that nobody sends', () => {
    const spans = spansOf(halfTracesExport(500));
    const ids = (number: number): Set<string | undefined> =>
      new Set(spans.map((span) => fieldsOf(span, number)[0]?.toString('hex')));
    const [traces, own, parents] = [ids(1), ids(2), ids(4)];
    deepEqual([traces.size, own.size, parents.size], [500, 500, 500]);
    ok([...parents].every((id) => !own.has(id)));
  });

  it('is messages of users whom nobody else is', async () => {
    const bodies = floodBodies({ requests: 2, messages: 10_000 }, 'i');
    ok(bodies.every(({ length }) => length < 100_000));
    const users = new Set<string>();
    for (const body of bodies) {
      const { messages } = JSON.parse(gunzipSync(body).toString()) as {
        readonly messages: readonly { readonly userId: string }[];
      };
      for (const { userId } of messages) users.add(userId);
    }
    equal(users.size, 20_000);
  });

  it('is due at its rate, whatever becomes of what was due before; beyond the most in flight it is left out', async () => {
    const due: number[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const leftOut = await paced(
      { rate: 1000, ended: (number) => number >= 20, most: 5 },
      async (dueAt, number) => {
        due.push(Math.round((dueAt - number) * 1000));
        if (due.length === 5) setTimeout(resolve, 60);
        await promise;
      },
    );
    equal(new Set(due).size, 1);
    equal(due.length + leftOut, 20);
    ok(leftOut > 0);
  });

  it('is broken off when its time is over, also what waits for a connection', async () => {
    const pool = new ConnectionPool(server.url, 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    server.instead = () => {
      resolve();
      return 'silent';
    };
    const asked = Array.from({ length: 3 }, () => pool.get('/livez', {}));
    const ends = Promise.allSettled(asked);
    await promise;
    pool.close();
    deepEqual(
      (await ends).map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    await rejects(pool.get('/livez', {}), NotSentError);
  });

  it('is told how many spans were rejected', () => {
    equal(rejectedSpans(Buffer.alloc(0)), 0);
    equal(rejectedSpans(field(1, Buffer.from([0x08, 0xac, 0x02]))), 300);
    equal(rejectedSpans(field(1, field(2, Buffer.from('a warning')))), 0);
  });
});

describe('what an attacker is answered', () => {
  const verdictOn = async (instead: AttackedServer['instead']): Promise<string[]> => {
    server.instead = instead;
    return (await salvoOf('openapi')).tally.faults;
  };

  it('may be anything but a 5xx, or 503 with Retry-After', async () => {
    for (const status of [200, 404, 413, 429]) deepEqual(await verdictOn(() => ({ status })), []);
    deepEqual(await verdictOn(() => ({ status: 503, headers: { 'retry-after': '1' } })), []);
    match((await verdictOn(() => ({ status: 503 })))[0] ?? '', /status 503/);
    match((await verdictOn(() => ({ status: 500 })))[0] ?? '', /openapi\.json: status 500/);
    match((await verdictOn(() => 'broken'))[0] ?? '', /connection closed|ECONNRESET/);
  });
});

describe('the ledger', () => {
  const balanceOf = async (attacker: Attacker): ReturnType<typeof balance> =>
    balance(attacker.ledger.entries(), countsOf(server.url, 0));

  it('agrees with what is counted', async () => {
    const found = await balanceOf(await salvoOf('many-messages'));
    deepEqual(found, { instances: 1, accepted: 60, unknown: 0, counted: 60, lost: 0, twice: 0, wrong: [] });
  });

  it('finds one message that is lost, and one that is counted twice', async () => {
    const attacker = await salvoOf('many-messages');
    const [[instanceId = ''] = []] = server.counts;
    server.counts.set(instanceId, 59);
    const { lost, twice, wrong } = await balanceOf(attacker);
    deepEqual([lost, twice], [1, 0]);
    match(wrong[0] ?? '', /: 59 counted of 60 accepted and 0 unknown$/);
    server.counts.set(instanceId, 61);
    const { lost: none, twice: one } = await balanceOf(attacker);
    deepEqual([none, one], [0, 1]);
  });

  it('finds a loss in one instance beside a double in another', async () => {
    const ledger = new Ledger();
    ledger.accepted({ instanceId: 'a', key: 'k' }, 5, 1);
    ledger.accepted({ instanceId: 'b', key: 'k' }, 5, 2);
    const { lost, twice, accepted, counted } = await balance(ledger.entries(), async ({ instanceId }) =>
      instanceId === 'a' ? 4 : 6,
    );
    deepEqual([lost, twice, accepted, counted], [1, 1, 10, 10]);
  });

  it('takes what may be stored for neither lost nor double; what was refused is a double', async () => {
    const headers = { 'retry-after': '1' };
    let answers = 0;
    const second =
      (instead: { readonly status: number; readonly isStored: boolean }): AttackedServer['instead'] =>
      ({ path }) =>
        path === '/v1/ingest/batch/' && (answers += 1) % 2 === 0 ? { ...instead, headers } : null;
    for (const isStored of [true, false]) {
      server.counts.clear();
      server.instead = second({ status: 503, isStored });
      const { lost, twice, unknown } = await balanceOf(await salvoOf('batches'));
      deepEqual([lost, twice], [0, 0]);
      ok(unknown > 0);
    }
    server.counts.clear();
    server.instead = second({ status: 429, isStored: true });
    const attacker = await salvoOf('batches');
    server.instead = () => null;
    ok((await balanceOf(attacker)).twice > 0);
  });
});
