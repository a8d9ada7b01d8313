import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditRecord } from '../../src/domain/audit.ts';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { maskingSchema } from '../../src/contract/masking.ts';
import { AppError } from '../../src/errors.ts';
import type { Instance } from '../../src/web/registry/registry.ts';
import { createHarness, INSTANCE, KEY, OTHER_KEY, PROJECT } from './support.ts';

const NOTHING = { texts: false, userIds: 'asSent' };
const ALL = { texts: true, userIds: 'digest' };

/** One instance, and what is recorded of who does what. */
function service({ audited = true }: { readonly audited?: boolean } = {}) {
  let instance: Instance = {
    id: INSTANCE,
    number: 1,
    projectId: PROJECT,
    name: null,
    createdAt: '2026-03-02T09:30:00.000Z',
  };
  const records: Omit<AuditRecord, 'id' | 'createdAt'>[] = [];
  const unfaked = () => Promise.reject(new Error('not faked'));
  const { app } = createHarness({
    scopes: ['erase'],
    instances: {
      findInstance: async (id) => (id === INSTANCE ? instance : null),
      instancesOf: unfaked,
      findDefaultInstance: unfaked,
      createInstance: unfaked,
      defaultInstance: unfaked,
      issueSessionIds: unfaked,
      changeInstance: async ({ projectId, id, changes }) => {
        if (id !== INSTANCE || projectId !== PROJECT) return null;
        return (instance = { ...instance, ...changes });
      },
    },
    audit: {
      record: async (_, record) => {
        if (!audited) throw new AppError('SERVICE_UNAVAILABLE', 'The audit cannot be written.');
        records.push(record);
      },
      page: unfaked,
    },
  });
  const send = async (method: 'GET' | 'PUT', body?: unknown, { id = INSTANCE, key = KEY } = {}) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const url = `/v1/instances/${id}/masking`;
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
    const answer = await app.inject({ method, url, headers: { 'x-api-key': key, ...type }, ...payload });
    return { status: answer.statusCode, json: answer.json<unknown>() };
  };
  return { send, records };
}

describe('/v1/instances/{instanceId}/masking', () => {
  it('says that nothing is masked until somebody says otherwise', async () => {
    const { send } = service();
    deepEqual(maskingSchema.parse((await send('GET')).json), NOTHING);
    deepEqual(await send('PUT', ALL), { status: 200, json: ALL });
    deepEqual((await send('GET')).json, ALL);
    deepEqual((await send('PUT', NOTHING)).json, NOTHING);
    deepEqual((await send('GET')).json, NOTHING);
  });

  it('keeps who said it, before it holds', async () => {
    const { send, records } = service();
    await send('PUT', ALL);
    deepEqual(records, [
      { keyId: `id of ${KEY}`, action: 'SET_MASKING', instanceId: INSTANCE, target: INSTANCE },
    ]);
    const unaudited = service({ audited: false });
    equal((await unaudited.send('PUT', ALL)).status, 503);
    deepEqual((await unaudited.send('GET')).json, NOTHING);
  });

  it('404: an instance that is not there, or another project has', async () => {
    const { send, records } = service();
    const id = '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10';
    for (const method of ['GET', 'PUT'] as const) {
      const body = method === 'PUT' ? ALL : undefined;
      equal((await send(method, body, { id })).status, 404);
      equal((await send(method, body, { key: OTHER_KEY })).status, 404);
    }
    deepEqual(records, []);
  });

  it('400: what is left out, unknown or of another type', async () => {
    const { send } = service();
    for (const [body, path] of [
      [{}, 'texts'],
      [{ texts: 'yes', userIds: 'asSent' }, 'texts'],
      [{ texts: true, userIds: 'random' }, 'userIds'],
    ] as const) {
      const { status, json } = await send('PUT', body);
      equal(status, 400);
      equal(errorEnvelopeSchema.parse(json).error.details?.[0]?.path, path);
    }
    equal((await send('PUT', { ...ALL, names: true })).status, 400);
  });
});
