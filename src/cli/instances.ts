/**
 * `npm run instances`: creates, lists and changes instances.
 *
 * Test: test/cli/keys.test.ts.
 */
import { lengthOf, MAX_INSTANCE_NAME_LENGTH } from '../domain/limits.ts';
import { isPlainName, NAME_RULE, printable } from '../domain/printable.ts';
import { isTimeZone } from '../domain/local-time.ts';
import { SetupError } from '../errors.ts';
import type { InstanceChanges } from '../web/registry/instances.ts';
import { leaveOutSchema } from '../contract/instances.ts';
import { action, runCommand, UsageError, uuid, type Work } from './command.ts';
import { onRegistry } from './nats-access.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run --silent instances -- create --project NAME [--id UUID] [--name NAME]
  npm run --silent instances -- list
  npm run --silent instances -- rename INSTANCE_ID NAME
  npm run --silent instances -- time-zone INSTANCE_ID ZONE    (Europe/Berlin, UTC: whose days its numbers mean)
  npm run --silent instances -- leave-out INSTANCE_ID NAME=VALUE [NAME=VALUE …]
                                    (environment=test: sessions that its numbers leave out; none: leaves out none)`;

const create = action({
  options: { project: { type: 'string' }, id: { type: 'string' }, name: { type: 'string' } },
  read({ project: projectName = '', id, name: given }) {
    const name = given === undefined ? undefined : nameOf(given);
    if (projectName.trim() === '') throw new UsageError('create needs --project NAME.');
    if (id !== undefined) uuid('--id', id);
    return onRegistry(async (registry) => {
      const project = await registry.projects.findByName(projectName.trim());
      if (project === null) {
        throw new SetupError(
          `There is no project ${projectName.trim()}. npm run keys -- create --project NAME makes one with a key.`,
        );
      }
      const instance = await registry.createInstance({ projectId: project.id, id, name });
      process.stdout.write(`${instance.id}\n`);
    });
  },
});

const list = action({
  read: () =>
    onRegistry(async (registry) => {
      const projects = new Map(registry.projects.list().map((project) => [project.id, project.name]));
      const rows = (await registry.listInstances()).map((instance) => [
        instance.id,
        projects.get(instance.projectId) ?? instance.projectId,
        instance.name ?? '',
        instance.timeZone ?? 'UTC',
        Object.entries(instance.leaveOut ?? {})
          .flatMap(([name, values]) => values.map((value) => printable(`${name}=${value}`)))
          .join(', '),
        instance.createdAt,
      ]);
      process.stdout.write(
        tableOf(['INSTANCE ID', 'PROJECT', 'NAME', 'TIME ZONE', 'LEAVES OUT', 'CREATED'], rows),
      );
    }),
});

const rename = action({
  operands: Infinity,
  read(_, operands) {
    const [id, name] = twoOf(operands, 'rename needs an INSTANCE_ID and a NAME; list shows them.');
    const called = nameOf(name);
    return changing(id, { name: called }, `is called ${printable(called)} now`);
  },
});

const timeZone = action({
  operands: Infinity,
  read(_, operands) {
    const [id, zone] = twoOf(operands, 'time-zone needs an INSTANCE_ID and a ZONE, such as Europe/Berlin.');
    if (!isTimeZone(zone))
      throw new UsageError(`${printable(zone)} is no time zone: name one as Europe/Berlin.`);
    return changing(id, { timeZone: zone }, `counts by days of ${zone} now`);
  },
});

const leaveOut = action({
  operands: Infinity,
  read(_, [id, ...chosen]) {
    if (id === undefined || chosen.length === 0)
      throw new UsageError(
        'leave-out needs an INSTANCE_ID and NAME=VALUE, such as environment=test, or none.',
      );
    uuid('INSTANCE_ID', id);
    const isNone = chosen.length === 1 && chosen[0] === 'none';
    const pairs = isNone ? [] : chosen.map(pairOf);
    const grouped = Map.groupBy(pairs, ([name]) => name);
    const given = Object.fromEntries(
      [...grouped].map(([name, all]) => [name, all.map(([, value]) => value)]),
    );
    const result = leaveOutSchema.safeParse(given);
    if (!result.success) throw new UsageError(`What to leave out ${result.error.issues[0]?.message}.`);
    return changing(
      id,
      { leaveOut: isNone ? undefined : result.data },
      isNone ? 'leaves out none now' : `leaves out ${chosen.map(printable).join(', ')} now`,
    );
  },
});

function pairOf(text: string): readonly [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.+)$/su.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`${printable(text)} is no NAME=VALUE, such as environment=test.`);
  return [name, value];
}

function twoOf(operands: readonly string[], usage: string): [string, string] {
  const [id, value, ...more] = operands;
  if (id === undefined || value === undefined || more.length > 0) throw new UsageError(usage);
  return [uuid('INSTANCE_ID', id), value];
}

function changing(id: string, changes: InstanceChanges, report: string): Work {
  return onRegistry(async (registry) => {
    const projectId = (await registry.findInstance(id))?.projectId ?? '';
    if ((await registry.changeInstance({ projectId, id, changes })) === null)
      throw new SetupError(`There is no instance ${id}. npm run instances -- list shows all.`);
    process.stdout.write(`${id.toLowerCase()} ${report}.\n`);
  });
}

function nameOf(text: string): string {
  if (text.trim() === '' || lengthOf(text) > MAX_INSTANCE_NAME_LENGTH)
    throw new UsageError(`A NAME has 1 to ${MAX_INSTANCE_NAME_LENGTH} characters.`);
  if (!isPlainName(text)) throw new UsageError(`A NAME ${NAME_RULE}.`);
  return text;
}

await runCommand({
  usage: USAGE,
  actions: { create, list, rename, 'time-zone': timeZone, 'leave-out': leaveOut },
});
