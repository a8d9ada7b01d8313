import { doesNotReject, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErasedKind } from '../../src/domain/erasures.ts';
import { derivedId } from '../../src/domain/ids.ts';
import { ErasureTargets } from '../../src/query/erasure-targets.ts';
import type { Row } from '../../src/store/duckdb.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { uuid } from '../support/fold.ts';

const [INSTANCE, EMPTY] = [uuid(1, 1), uuid(1, 2)];
const SESSION = uuid(2, 1);

describe('what an erasure names', () => {
  const tables: Record<string, readonly Row[]> = {
    instance: [{ id: INSTANCE, instance: 1 }],
    session: [{ id: SESSION, session: 1 }],
    user: [{ id: derivedId(INSTANCE, 'end-user', 'ana'), end_user: 1 }],
    metadata: [{ name: 'bo', member: 'plan' }],
  };
  const snapshot = {
    cached: (_: string, __: readonly string[], read: () => unknown) => read(),
    async all(sql: string, { bindings = {} }: { bindings?: Row }) {
      const [, table = ''] = /@(\w+)/.exec(sql) ?? [];
      const [[column = '', value] = []] = Object.entries(bindings);
      return (tables[table] ?? []).filter((row) => row[column] === value);
    },
  } as unknown as Snapshot;
  const targets = new ErasureTargets({ readerOf: () => ({ read: (work) => work(snapshot) }) });
  const check = (instanceId: string, kind: ErasedKind, name: string) => () =>
    targets.check(instanceId, kind, name);

  it('is known when it wrote something, or something is said of it', async () => {
    await doesNotReject(check(INSTANCE, 'SESSION', SESSION));
    await doesNotReject(check(INSTANCE, 'END_USER', 'ana'));
    await doesNotReject(check(INSTANCE, 'END_USER', 'bo'));
  });

  it('is refused when nothing of it is counted, and not repeated', async () => {
    for (const [instanceId, kind, name] of [
      [INSTANCE, 'SESSION', uuid(2, 2)],
      [INSTANCE, 'END_USER', 'Ana'],
      [EMPTY, 'SESSION', SESSION],
      [EMPTY, 'END_USER', 'ana'],
    ] as const)
      await rejects(check(instanceId, kind, name), {
        code: 'NOT_FOUND',
        message: new RegExp(`^(?!.*${name}).*nothing of it was counted yet`),
      });
  });

  it('may be an instance without a message', async () => {
    await doesNotReject(check(EMPTY, 'INSTANCE', EMPTY));
  });
});
