import { SetupError } from '../errors.ts';
import { parseCommandLine, printTable, runRegistryCommand, UsageError } from './registry-command.ts';

const USAGE = `Usage:
  npm run --silent keys -- create --project NAME [--env test|live]
  npm run --silent keys -- list
  npm run --silent keys -- revoke KEY_ID`;

await runRegistryCommand(USAGE, (args) => {
  const { values, positionals } = parseCommandLine(args, {
    project: { type: 'string' },
    env: { type: 'string' },
  });
  const [command, keyId, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(' ')}.`);
  if (command !== 'create' && (values.project !== undefined || values.env !== undefined)) {
    throw new UsageError('--project and --env belong to create.');
  }
  if (command !== 'revoke' && keyId !== undefined) throw new UsageError(`Unexpected: ${keyId}.`);

  switch (command) {
    case 'create': {
      const projectName = values.project?.trim() ?? '';
      const env = values.env ?? 'test';
      if (projectName === '') throw new UsageError('create needs --project NAME.');
      if (env !== 'test' && env !== 'live') throw new UsageError('--env is test or live.');
      return async (registry) => {
        if ((await registry.findProjectByName(projectName)) === null) {
          process.stderr.write(`Project ${projectName} is new and was created.\n`);
        }
        const { rawKey } = await registry.createKey({ projectName, env });
        process.stdout.write(`${rawKey}\n`);
      };
    }
    case 'list':
      return async (registry) => {
        const projects = new Map(
          (await registry.listProjects()).map((project) => [project.id, project.name]),
        );
        const rows = (await registry.listKeys()).map((key) => [
          key.keyId,
          projects.get(key.projectId) ?? key.projectId,
          key.env,
          key.createdAt,
          key.revokedAt ?? '',
        ]);
        printTable(['KEY ID', 'PROJECT', 'ENV', 'CREATED', 'REVOKED'], rows);
      };
    case 'revoke':
      if (keyId === undefined) throw new UsageError('revoke needs a KEY_ID; list shows them.');
      return async (registry) => {
        if (!(await registry.revokeKey(keyId))) {
          throw new SetupError(`There is no key ${keyId}. npm run keys -- list shows all.`);
        }
        process.stdout.write(`${keyId} is revoked.\n`);
      };
    default:
      throw new UsageError(command === undefined ? 'A command is needed.' : `Unknown command: ${command}.`);
  }
});
