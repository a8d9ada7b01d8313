/**
 * `npm run keys`: creates, lists and revokes API keys. A key is printed once, at its creation.
 *
 * Test: test/cli/keys.test.ts.
 */
import { inOrder, isKeyScope, KEY_SCOPES, type KeyScope } from '../domain/key-scopes.ts';
import { isPlainName, NAME_RULE, printable } from '../domain/printable.ts';
import { SetupError } from '../errors.ts';
import { action, oneOf, runCommand, UsageError } from './command.ts';
import { onRegistry } from './nats-access.ts';
import { tableOf } from './table.ts';

/** Code points. */
const MAX_LABEL_LENGTH = 200;

const USAGE = `Usage:
  npm run --silent keys -- create --project NAME [--env test|live] [--label TEXT] [--scope NAME,…]
  npm run --silent keys -- list
  npm run --silent keys -- revoke KEY_ID

A key may do what its scopes say: ${KEY_SCOPES.join(', ')}; without --scope all of it.`;

const create = action({
  options: {
    project: { type: 'string' },
    env: { type: 'string' },
    label: { type: 'string' },
    scope: { type: 'string', multiple: true },
  },
  read({ project, env: given = 'test', label, scope }) {
    const projectName = project?.trim() ?? '';
    const called = label?.trim() || undefined;
    if (projectName === '') throw new UsageError('create needs --project NAME.');
    if (called !== undefined && [...called].length > MAX_LABEL_LENGTH)
      throw new UsageError(`--label takes at most ${MAX_LABEL_LENGTH} characters.`);
    if (!isPlainName(called ?? '')) throw new UsageError(`--label ${NAME_RULE}.`);
    const env = oneOf(['test', 'live'], '--env', given);
    const scopes = scope === undefined ? undefined : readScopes(scope);
    return onRegistry(async (registry) => {
      if ((await registry.projects.findByName(projectName)) === null) {
        if (!isPlainName(projectName)) throw new SetupError(`The name of a project ${NAME_RULE}.`);
        process.stderr.write(`Project ${printable(projectName)} is new and was created.\n`);
      }
      const { rawKey, key } = await registry.createKey({ projectName, env, label: called, scopes });
      process.stderr.write(`${key.keyId} is its id in list and for revoke. The key is shown this once:\n`);
      process.stdout.write(`${rawKey}\n`);
    });
  },
});

const list = action({
  read: () =>
    onRegistry(async (registry) => {
      const projects = new Map(registry.projects.list().map((project) => [project.id, project.name]));
      const rows = registry.keys
        .list()
        .map((key) => [
          key.keyId,
          projects.get(key.projectId) ?? key.projectId,
          key.env,
          key.scopes.length === KEY_SCOPES.length ? 'all' : key.scopes.join(','),
          key.label ?? '',
          key.createdAt,
          key.lastUsedAt ?? 'never',
          key.revokedAt ?? '',
        ]);
      process.stdout.write(
        tableOf(['KEY ID', 'PROJECT', 'ENV', 'SCOPES', 'LABEL', 'CREATED', 'LAST USED', 'REVOKED'], rows),
      );
    }),
});

const revoke = action({
  operands: 1,
  read(_, [keyId]) {
    if (keyId === undefined) throw new UsageError('revoke needs a KEY_ID; list shows them.');
    return onRegistry(async (registry) => {
      if (!(await registry.keys.revoke(keyId))) {
        throw new SetupError(`There is no key ${keyId}. npm run keys -- list shows all.`);
      }
      process.stdout.write(`${keyId} is revoked.\n`);
    });
  },
});

/** Parses comma-separated lists of scopes. Throws UsageError. */
function readScopes(lists: readonly string[]): KeyScope[] {
  const names = lists.flatMap((list) => list.split(',')).map((name) => name.trim().toLowerCase());
  const known = new Intl.ListFormat('en-GB').format(KEY_SCOPES);
  return inOrder(
    names.map((name) => {
      if (isKeyScope(name)) return name;
      const fault = name === '' ? 'needs a name' : `does not know ${printable(name)}`;
      throw new UsageError(`--scope ${fault}; the scopes are ${known}.`);
    }),
  );
}

await runCommand({ usage: USAGE, actions: { create, list, revoke } });
