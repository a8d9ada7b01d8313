import { UUID_PATTERN } from '../domain/ids.ts';
import { printable } from '../domain/printable.ts';
import { SetupError } from '../errors.ts';
import { parseCommandLine, printTable, runRegistryCommand, UsageError } from './registry-command.ts';

/** Code points. */
const MAX_NAME_LENGTH = 200;

const USAGE = `Usage:
  npm run --silent instances -- create --project NAME [--id UUID] [--name NAME]
  npm run --silent instances -- list
  npm run --silent instances -- rename INSTANCE_ID NAME`;

await runRegistryCommand(USAGE, (args) => {
  const { values, positionals } = parseCommandLine(args, {
    project: { type: 'string' },
    id: { type: 'string' },
    name: { type: 'string' },
  });
  const [command, ...rest] = positionals;
  if (command !== 'rename' && rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(' ')}.`);
  if (command !== 'create' && Object.keys(values).length > 0)
    throw new UsageError('--project, --id and --name belong to create.');

  switch (command) {
    case 'create': {
      const { id } = values;
      const name = values.name === undefined ? undefined : nameOf(values.name);
      const projectName = values.project?.trim() ?? '';
      if (projectName === '') throw new UsageError('create needs --project NAME.');
      if (id !== undefined && !UUID_PATTERN.test(id)) throw new UsageError('--id must be a UUID.');
      return async (registry) => {
        const project = await registry.findProjectByName(projectName);
        if (project === null) {
          throw new SetupError(
            `There is no project ${projectName}. npm run keys -- create --project NAME makes one with a key.`,
          );
        }
        const instance = await registry.createInstance({ projectId: project.id, id, name });
        process.stdout.write(`${instance.id}\n`);
      };
    }
    case 'list':
      return async (registry) => {
        const projects = new Map(
          (await registry.listProjects()).map((project) => [project.id, project.name]),
        );
        const rows = (await registry.listInstances()).map((instance) => [
          instance.id,
          projects.get(instance.projectId) ?? instance.projectId,
          instance.name ?? '',
          instance.createdAt,
        ]);
        printTable(['INSTANCE ID', 'PROJECT', 'NAME', 'CREATED'], rows);
      };
    case 'rename': {
      const [id, name, ...more] = rest;
      if (id === undefined || name === undefined || more.length > 0)
        throw new UsageError('rename needs an INSTANCE_ID and a NAME; list shows them.');
      if (!UUID_PATTERN.test(id)) throw new UsageError('INSTANCE_ID must be a UUID.');
      const called = nameOf(name);
      return async (registry) => {
        const projectId = (await registry.findInstance(id))?.projectId ?? '';
        if ((await registry.renameInstance({ projectId, id, name: called })) === null)
          throw new SetupError(`There is no instance ${id}. npm run instances -- list shows all.`);
        process.stdout.write(`${id.toLowerCase()} is called ${printable(called)} now.\n`);
      };
    }
    default:
      throw new UsageError(command === undefined ? 'A command is needed.' : `Unknown command: ${command}.`);
  }
});

function nameOf(text: string): string {
  if (text.trim() === '' || [...text].length > MAX_NAME_LENGTH)
    throw new UsageError(`A NAME has 1 to ${MAX_NAME_LENGTH} characters.`);
  return text;
}
