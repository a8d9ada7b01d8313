import { UUID_PATTERN } from '../domain/ids.ts';
import { SetupError } from '../errors.ts';
import { parseCommandLine, printTable, runRegistryCommand, UsageError } from './registry-command.ts';

const USAGE = `Usage:
  npm run --silent instances -- create --project NAME [--id UUID] [--name NAME]
  npm run --silent instances -- list`;

await runRegistryCommand(USAGE, (args) => {
  const { values, positionals } = parseCommandLine(args, {
    project: { type: 'string' },
    id: { type: 'string' },
    name: { type: 'string' },
  });
  const [command, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(' ')}.`);

  switch (command) {
    case 'create': {
      const { id, name } = values;
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
      if (Object.keys(values).length > 0) throw new UsageError('list takes no options.');
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
    default:
      throw new UsageError(command === undefined ? 'A command is needed.' : `Unknown command: ${command}.`);
  }
});
