/** Attacks by what the scope `curate` may do. */
import { flood, randomWord, type Attack } from './attacker.ts';
import { PROJECT, sessionsOf } from './reads.ts';
import { newAlert, testPath } from './webhooks.ts';

const CONNECTIONS = 12;

/** Renames topics, and moves each third time one into a cluster of its own. */
const curations: Attack['prepare'] = async (attacker) => {
  const { instanceId } = await sessionsOf(attacker);
  const pool = attacker.pool(CONNECTIONS);
  const query = new URLSearchParams({ instanceId, groupBy: 'TOPIC', fields: 'messages' });
  const answer = await attacker.send(pool, { path: `/v1/query/?${query}` });
  const { elements = [] } = JSON.parse(answer?.body ?? '{}') as {
    readonly elements?: readonly { readonly dimensions: { readonly topic: { readonly id: string } } }[];
  };
  const topics = elements.map(({ dimensions }) => dimensions.topic.id);
  if (topics.length === 0 && attacker.size !== 'small') throw new Error('no topic was found');
  return () =>
    flood(attacker, { perSecond: 1000, most: 2 * CONNECTIONS }, (number) => {
      const action =
        number % 3 === 0
          ? { action: 'MOVE', newClusterName: randomWord() }
          : { action: 'RENAME', name: randomWord() };
      const body = JSON.stringify({ instanceId, topicId: topics[number % topics.length], ...action });
      return attacker.send(pool, { path: '/v1/curations/', body });
    });
};

const INSTANCES = 2;
/** As many as an instance may have. */
const ALERTS = 100;
const HOSTS = 24;

/** Alerts whose receivers take connections and never answer, on many hosts. */
const silentReceivers: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(CONNECTIONS);
  const port = await attacker.listen();
  const tests: string[] = [];
  for (let made = 0; made < INSTANCES; made += 1) {
    const { instanceId, key } = await attacker.newInstance(pool);
    const post = (path: string, body: string) => attacker.send(pool, { path, body, key });
    const number = attacker.sized(ALERTS, ALERTS, 2);
    const alerts = Array.from({ length: number }, (_, alert) =>
      newAlert(post, instanceId, `http://127.0.0.${2 + (alert % HOSTS)}:${port}/`),
    );
    for (const id of await Promise.all(alerts)) if (id !== null) tests.push(testPath(id, instanceId));
  }
  if (tests.length === 0) throw new Error('no alert was made');
  return async () => {
    await Promise.all(tests.map((path) => attacker.send(pool, { path, body: '' })));
  };
};

export const CURATE_ATTACKS: readonly Attack[] = [
  {
    name: 'silent-receivers',
    what: 'test messages of 200 alerts to 24 hosts that take connections and never answer',
    everyMs: 10_000,
    prepare: silentReceivers,
  },
  // What it leaves takes longest.
  {
    name: 'curations',
    what: 'topics renamed and moved, as fast as 12 connections carry it',
    project: PROJECT,
    everyMs: 0,
    prepare: curations,
  },
];
