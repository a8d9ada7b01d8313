import { deepEqual, rejects } from 'node:assert/strict';
import { afterEach, describe, it, mock } from 'node:test';
import { api } from '../../../src/web/page/client/api.ts';

describe('what the page asks', () => {
  afterEach(() => mock.restoreAll());

  function answering(body: string, status = 200): void {
    // One at a time: of two mocks of a method, the first one would stay behind when all are restored.
    mock.restoreAll();
    Object.assign(globalThis, { sessionStorage: { getItem: () => 'key' } });
    mock.method(globalThis, 'fetch', () => Promise.resolve(new Response(body, { status })));
  }

  it('shows in every text what would turn the direction of its neighbours', async () => {
    const elements = [{ id: '1', name: 'Shop\u202egnp.exe' }];
    for (const body of [
      JSON.stringify({ elements }),
      JSON.stringify({ elements }).replace('\u202e', '\\u202e'),
    ]) {
      answering(body);
      deepEqual(await api.instances(), { elements: [{ id: '1', name: 'Shop\\u202egnp.exe' }] });
    }
    answering(JSON.stringify({ elements: [{ id: '1', name: 'חנות\u200f\n' }] }));
    deepEqual(await api.instances(), { elements: [{ id: '1', name: 'חנות\u200f\n' }] });
  });

  it('tells an error, and an answer that is none', async () => {
    answering('{"error":{"code":"NOT_FOUND","message":"no"}}', 404);
    await rejects(api.instances(), { status: 404, code: 'NOT_FOUND', message: 'no' });
    answering('<html>');
    await rejects(api.instances(), { status: 200, code: '' });
  });
});
