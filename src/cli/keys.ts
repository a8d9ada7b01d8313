import { printable } from '../domain/printable.ts';
import { SetupError } from '../errors.ts';
import { parseCommandLine, printTable, runRegistryCommand, UsageError } from './registry-command.ts';

/** Code points. */
const MAX_LABEL_LENGTH = 200;

const USAGE = `Usage:
  npm run --silent keys -- create --project NAME [--env test|live] [--label TEXT]
  npm run --silent keys -- list
  npm run --silent keys -- revoke KEY_ID`;

await runRegistryCommand(USAGE, (args) => {
  const { values, positionals } = parseCommandLine(args, {
    project: { type: 'string' },
    env: { type: 'string' },
    label: { type: 'string' },
  });
  const [command, keyId, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(' ')}.`);
  if (command !== 'create' && Object.keys(values).length > 0)
    throw new UsageError('--project, --env and --label belong to create.');
  if (command !== 'revoke' && keyId !== undefined) throw new UsageError(`Unexpected: ${keyId}.`);

  switch (command) {
    case 'create': {
      const projectName = values.project?.trim() ?? '';
      const env = values.env ?? 'test';
      const label = values.label?.trim() || undefined;
      if (projectName === '') throw new UsageError('create needs --project NAME.');
      if (label !== undefined && [...label].length > MAX_LABEL_LENGTH)
        throw new UsageError(`--label takes at most ${MAX_LABEL_LENGTH} characters.`);
      if (env !== 'test' && env !== 'live') throw new UsageError('--env is test or live.');
      return async (registry) => {
        if ((await registry.findProjectByName(projectName)) === null) {
          process.stderr.write(`Project ${printable(projectName)} is new and was created.\n`);
        }
        const { rawKey, key } = await registry.createKey({ projectName, env, label });
        process.stderr.write(`${key.keyId} is its id in list and for revoke. The key is shown this once:\n`);
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
          key.label ?? '',
          key.createdAt,
          key.lastUsedAt ?? 'never',
          key.revokedAt ?? '',
        ]);
        printTable(['KEY ID', 'PROJECT', 'ENV', 'LABEL', 'CREATED', 'LAST USED', 'REVOKED'], rows);
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
