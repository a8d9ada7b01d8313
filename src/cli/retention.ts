/**
 * `npm run retention`: shows and sets how long an instance keeps conversations.
 *
 * Test: test/cli/retention.test.ts.
 */
import { UUID_PATTERN } from '../domain/ids.ts';
import { KEPT_FOR_EVER, type Retention } from '../domain/retention.ts';
import { SetupError } from '../errors.ts';
import { openRegistry } from '../web/registry/registry.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { action, runCommand, UsageError, type Work } from './command.ts';
import { onStream } from './nats-access.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run retention -- show
  npm run retention -- set --instance UUID [--text-days N] [--people-days N] [--count-days N] [--keep-at-least-days N]

Of conversations of which nothing was said for --text-days, texts, titles, summaries and quotes go, and every number
stays. Users who said nothing for --people-days get names that lead to nobody. After --count-days, messages no longer
count. Days that are left out are for ever. A service that runs takes away what is older within a minute, and then once a
day; without one, "npm run erase -- run" does. What is gone does not come back.`;

const MOST_DAYS = 36_500;
const DAYS = ['text-days', 'people-days', 'count-days', 'keep-at-least-days'] as const;

function daysOf(name: string, given: string | undefined): number | null {
  if (given === undefined) return null;
  const days = Number(given);
  if (!/^\d{1,6}$/.test(given) || days < 1 || days > MOST_DAYS)
    throw new UsageError(`--${name} takes a whole number of days, 1 to ${MOST_DAYS}.`);
  return days;
}

function onRetentions(
  work: (opened: {
    readonly retentions: Retentions;
    readonly find: (id: string) => Promise<object | null>;
  }) => Promise<void>,
): Work {
  return onStream(async (connection, config) => {
    const options = { replicas: config.streamReplicas };
    const registry = await openRegistry(connection, options);
    try {
      await registry.whenReady();
      const retentions = await Retentions.open(connection, options);
      await work({ retentions, find: (id) => registry.findInstance(id) });
    } finally {
      await registry.close();
    }
  });
}

const shown = (days: number | null): string => (days === null ? 'for ever' : `${days}`);

const actions = {
  show: action({
    read: () =>
      onRetentions(async ({ retentions }) => {
        const runs = new Map((await retentions.list()).map((run) => [run.instanceId, run]));
        const rows = (await retentions.retained()).map(({ instanceId, retention }) => {
          const run = runs.get(instanceId);
          const last = run === undefined ? '' : (run.doneAt ?? `since ${run.startedAt}`);
          const { textDays, peopleDays, countDays, keepAtLeastDays } = retention;
          return [instanceId, ...[textDays, peopleDays, countDays, keepAtLeastDays].map(shown), last];
        });
        process.stdout.write(
          tableOf(['INSTANCE', 'TEXT DAYS', 'PEOPLE DAYS', 'COUNT DAYS', 'AT LEAST', 'LAST RUN'], rows),
        );
      }),
  }),
  set: action({
    options: {
      instance: { type: 'string' },
      'text-days': { type: 'string' },
      'people-days': { type: 'string' },
      'count-days': { type: 'string' },
      'keep-at-least-days': { type: 'string' },
    },
    read({ instance, ...given }) {
      if (instance === undefined || !UUID_PATTERN.test(instance))
        throw new UsageError('--instance takes a UUID.');
      const [textDays, peopleDays, countDays, keepAtLeastDays] = DAYS.map((name) =>
        daysOf(name, given[name]),
      ) as [number | null, number | null, number | null, number | null];
      const retention: Retention = { ...KEPT_FOR_EVER, textDays, peopleDays, countDays, keepAtLeastDays };
      for (const days of [textDays, peopleDays, countDays])
        if (days !== null && days < (keepAtLeastDays ?? 0))
          throw new UsageError(`No days may be less than --keep-at-least-days ${keepAtLeastDays}.`);
      const id = instance.toLowerCase();
      return onRetentions(async ({ retentions, find }) => {
        if ((await find(id)) === null) throw new SetupError(`There is no instance ${id}.`);
        await retentions.setRetention(id, retention);
        process.stdout.write(
          `texts: ${shown(textDays)}; names: ${shown(peopleDays)}; messages: ${shown(countDays)} (days)\n`,
        );
      });
    },
  }),
};

await runCommand({ usage: USAGE, actions });
