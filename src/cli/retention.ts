/**
 * `npm run retention`: shows and sets how long projects and their instances keep conversations.
 *
 * Test: test/cli/retention.test.ts.
 */
import {
  inForce,
  instancesBelow,
  KEPT_FOR_EVER,
  MOST_RETENTION_DAYS,
  periodsBelow,
  type Retention,
} from '../domain/retention.ts';
import { SetupError } from '../errors.ts';
import type { Registry } from '../web/registry/registry.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { action, runCommand, UsageError, uuid, wholeNumber, type Work } from './command.ts';
import { onRegistry } from './nats-access.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run retention -- show
  npm run retention -- set --project NAME|--instance UUID [--text-days N] [--people-days N] [--count-days N]
      [--keep-at-least-days N]
  npm run retention -- unset --project NAME|--instance UUID

Days of a project hold for all its instances that have none of their own, also for those that are made later; "unset"
gives days up. --keep-at-least-days of a project is a floor for its instances, too.

Of conversations of which nothing was said for --text-days, texts, titles, summaries and quotes go, and every number
stays. Users who said nothing for --people-days get names that lead to nobody. After --count-days, messages no longer
count. Days that are left out are for ever, and --keep-at-least-days stays as it is. A service that runs takes away what
is older within a minute, and then once a day; without one, "npm run erase -- run" does. What is gone does not come back.`;

const DAYS = ['text-days', 'people-days', 'count-days', 'keep-at-least-days'] as const;

function daysOf(name: string, given: string | undefined): number | null {
  return given === undefined ? null : wholeNumber(`--${name}`, given, 1, MOST_RETENTION_DAYS);
}

interface Opened {
  readonly retentions: Retentions;
  readonly registry: Registry;
}

function onRetentions(work: (opened: Opened) => Promise<void>): Work {
  return onRegistry(async (registry, { connection, replicas }) =>
    work({ retentions: await Retentions.open(connection, replicas), registry }),
  );
}

const OWNER = { project: { type: 'string' }, instance: { type: 'string' } } as const;
type Owner = Readonly<Partial<Record<keyof typeof OWNER, string | undefined>>>;

/** Days as a command gives them; without a floor, the one that is set stays. */
type NewRetention = Omit<Retention, 'keepAtLeastDays'> & Partial<Pick<Retention, 'keepAtLeastDays'>>;

/** Throws SetupError if days are less than the floor that stays. */
function withFloor(given: NewRetention, former: Retention | null): Retention {
  const keepAtLeastDays = given.keepAtLeastDays ?? former?.keepAtLeastDays ?? null;
  const retention = { ...given, keepAtLeastDays };
  if (periodsBelow(retention, keepAtLeastDays).length > 0)
    throw new SetupError(`No days may be less than those to keep at least, ${keepAtLeastDays}: set both.`);
  return retention;
}

/** Creates work that sets days of a project or an instance; null gives them up. */
function setting({ project: name, instance }: Owner, retention: NewRetention | null): Work {
  if ((name === undefined) === (instance === undefined))
    throw new UsageError('Name either --project or --instance.');
  const id = instance === undefined ? null : uuid('--instance', instance);
  return onRetentions(async (opened) => {
    if (id === null) await setOfProject(opened, name!.trim(), retention);
    else await setOfInstance(opened, id, retention);
    const { textDays, peopleDays, countDays } = retention ?? {};
    const line = `texts: ${daysText(textDays)}; names: ${daysText(peopleDays)}; messages: ${daysText(countDays)} (days)`;
    process.stdout.write(`${retention === null ? 'No days of its own are set.' : line}\n`);
  });
}

async function setOfInstance(
  { retentions, registry }: Opened,
  id: string,
  retention: NewRetention | null,
): Promise<void> {
  const instance = await registry.findInstance(id);
  if (instance === null) throw new SetupError(`There is no instance ${id}.`);
  const floor = (await retentions.ofProject(instance.projectId))?.keepAtLeastDays ?? null;
  if (periodsBelow(retention ?? KEPT_FOR_EVER, floor).length > 0)
    throw new SetupError(`No days may be less than those that the project has to keep at least, ${floor}.`);
  await retentions.setRetention(
    id,
    retention === null ? null : withFloor(retention, await retentions.retentionOf(id)),
  );
}

async function setOfProject(
  { retentions, registry }: Opened,
  name: string,
  given: NewRetention | null,
): Promise<void> {
  const project = await registry.projects.findByName(name);
  if (project === null) throw new SetupError(`There is no project ${name}.`);
  const retention = given === null ? KEPT_FOR_EVER : withFloor(given, await retentions.ofProject(project.id));
  const below = await instancesBelow(retention, await retentions.retained(), {
    projectId: project.id,
    projectOf: async (id) => (await registry.findInstance(id))?.projectId ?? null,
  });
  if (below !== '')
    throw new SetupError(
      `These instances have days of their own that are less than ${retention.keepAtLeastDays}: ${below}. Set theirs first.`,
    );
  await retentions.setOfProject({
    projectId: project.id,
    retention,
    setAt: new Date().toISOString(),
  });
}

const daysText = (days: number | null = null): string => (days === null ? 'for ever' : `${days}`);

function cellsOf({ textDays, peopleDays, countDays, keepAtLeastDays }: Retention): string[] {
  // Without a minimum, nothing has to be kept.
  return [...[textDays, peopleDays, countDays].map(daysText), keepAtLeastDays?.toString() ?? '–'];
}

/** Cells of an instance that has no days of its own. */
const AS_PROJECT = ['as project', 'as project', 'as project', 'as project'] as const;

const actions = {
  show: action({
    read: () =>
      onRetentions(async ({ retentions, registry }) => {
        const names = new Map(registry.projects.list().map(({ id, name }) => [id, name]));
        const runs = new Map((await retentions.list()).map((run) => [run.instanceId, run]));
        const own = new Map((await retentions.retained()).map((each) => [each.instanceId, each.retention]));
        const ofProjects = new Map(
          (await retentions.projects()).map(({ projectId, retention }) => [projectId, retention]),
        );
        const projects = [...ofProjects].map(([projectId, retention]) => [
          `project ${names.get(projectId) ?? projectId}`,
          ...cellsOf(retention),
          '',
        ]);
        const instances: string[][] = [];
        for (const id of new Set([...own.keys(), ...runs.keys()])) {
          const retention = own.get(id);
          const run = runs.get(id);
          const projectId = (await registry.findInstance(id))?.projectId ?? '';
          const ofProject = ofProjects.get(projectId) ?? null;
          const days =
            retention === undefined ? AS_PROJECT : cellsOf(inForce(retention, ofProject).retention);
          instances.push([id, ...days, run === undefined ? '' : (run.doneAt ?? `since ${run.startedAt}`)]);
        }
        const rows = [...projects, ...instances];
        process.stdout.write(
          rows.length === 0
            ? 'No days are set: everything is kept.\n'
            : tableOf(
                ['PROJECT OR INSTANCE', 'TEXT DAYS', 'PEOPLE DAYS', 'COUNT DAYS', 'AT LEAST', 'LAST RUN'],
                rows,
              ),
        );
      }),
  }),
  set: action({
    options: {
      ...OWNER,
      'text-days': { type: 'string' },
      'people-days': { type: 'string' },
      'count-days': { type: 'string' },
      'keep-at-least-days': { type: 'string' },
    },
    read(given) {
      const [textDays, peopleDays, countDays, keepAtLeastDays] = DAYS.map((name) =>
        daysOf(name, given[name]),
      ) as [number | null, number | null, number | null, number | null];
      const days = { textDays, peopleDays, countDays };
      if (keepAtLeastDays === null) return setting(given, days);
      if (periodsBelow(days, keepAtLeastDays).length > 0)
        throw new UsageError(`No days may be less than --keep-at-least-days ${keepAtLeastDays}.`);
      return setting(given, { ...days, keepAtLeastDays });
    },
  }),
  unset: action({ options: OWNER, read: (given) => setting(given, null) }),
};

await runCommand({ usage: USAGE, actions });
