import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { loadConfig } from '../src/config.ts';
import { SetupError } from '../src/errors.ts';

function messageOf(env: NodeJS.ProcessEnv): string {
  let message = '';
  throws(
    () => loadConfig(env),
    (error) => {
      ok(error instanceof SetupError);
      message = error.message;
      return true;
    },
  );
  return message;
}

describe('config', () => {
  it('has defaults for everything, and is frozen', () => {
    const config = loadConfig({});
    deepEqual(
      [config.host, config.port, config.serve, config.natsUrl],
      ['127.0.0.1', 8080, 'all', undefined],
    );
    equal(config.dataDir, resolve('data'));
    ok(Object.isFrozen(config));
  });

  it('takes an empty variable for an absent one', () => {
    deepEqual(loadConfig({ PORT: '', NATS_URL: ' ' }), loadConfig({}));
  });

  it('lists every fault at once', () => {
    const message = messageOf({
      PORT: '99999',
      SERVE: 'both',
      NATS_URL: 'x',
      RATE_LIMIT_PER_SECOND: '1.5',
      LOG_LEVEL: 'loud',
    });
    for (const name of ['PORT', 'SERVE', 'NATS_URL', 'RATE_LIMIT_PER_SECOND', 'LOG_LEVEL'])
      match(message, new RegExp(`\\b${name} must`));
    ok(!message.includes('\n'));
  });

  for (const [name, value] of [
    ['PORT', '-1'],
    ['PORT', '0x10'],
    ['SHARDS', '0'],
    ['SHARDS', '257'],
    ['BODY_LIMIT_BYTES', '1e6'],
    ['BODY_LIMIT_BYTES', '134217729'],
    ['QUERY_WAIT_MS', '60001'],
    ['WRITER_URL', 'ftp://models'],
    ['WRITER_URL', 'http://me:secret@models'],
    ['WRITER_CALLS_PER_HOUR', '0'],
    ['WRITER_CHECKS_PER_HOUR', '-1'],
    ['WRITER_CHECKS_PER_HOUR', '1.5'],
    ['AUTH_PROXY_FROM', '10.0.0.1'],
    ['AUTH_PROXY_FROM', 'proxy.example.com'],
    ['AUTH_PROXY_HEADER', 'X-Forwarded-Email'],
    ['AUTH_PROXY_SCOPES', 'admins'],
    ['AUTH_PROXY_SCOPES', '*=everything'],
    ['AUTH_PROXY_INSTANCES', 'sales=Shop'],
    ['AUTH_PROXY_INSTANCES', 'sales='],
    ['AUTH_PROXY_INSTANCES', 'a=*;a=*'],
    ['SMTP_URL', 'https://mail.example.com'],
    ['SMTP_URL', 'smtp://ada:pa#ss@mail.example.com'],
    ['PUBLIC_URL', 'http://a:99999'],
    ['AUTH_PROXY_HEADER', 'Authorization'],
    ['MAIL_FROM', 'Undertone\nBcc: eve@example.com'],
  ] as const) {
    it(`refuses ${name}=${value}`, () => match(messageOf({ [name]: value }), new RegExp(name)));
  }

  it('knows what people of a proxy may do, by group', () => {
    equal(loadConfig({}).people, null);
    const { people } = loadConfig({
      AUTH_PROXY_HEADER: 'X-Forwarded-Email',
      AUTH_PROXY_FROM: '127.0.0.1, 10.0.0.0/8',
      AUTH_PROXY_SCOPES: '*=query; admins = query, curate',
    });
    deepEqual(
      [people?.header, people?.from, people?.project],
      ['x-forwarded-email', ['127.0.0.1', '10.0.0.0/8'], 'default'],
    );
    deepEqual(
      [...(people?.scopes ?? [])],
      [
        ['*', ['query']],
        ['admins', ['query', 'curate']],
      ],
    );
    equal(people?.instances, null);
  });

  it('knows which instances people of a proxy see, by group', () => {
    const id = '019AA3F1-6F0C-7B32-9D55-3A0F6C2B7E10';
    const instancesOf = (text: string) =>
      loadConfig({
        AUTH_PROXY_HEADER: 'X-Forwarded-Email',
        AUTH_PROXY_FROM: '127.0.0.1',
        AUTH_PROXY_INSTANCES: text,
      }).people?.instances;
    deepEqual(
      instancesOf(`admins=*; sales = ${id}, ${id}`),
      new Map([
        ['admins', null],
        ['sales', new Set([id.toLowerCase()])],
      ]),
    );
  });

  it('has a writer with a WRITER_URL, and none without', () => {
    equal(loadConfig({ WRITER_API_KEY: 'k', WRITER_CALLS_PER_HOUR: '5' }).writer, null);
    deepEqual(loadConfig({ WRITER_URL: 'http://localhost:11434', WRITER_IDLE_MINUTES: '2' }).writer, {
      source: { url: 'http://localhost:11434', apiKey: undefined, model: undefined },
      callsPerHour: 120,
      checksPerHour: 0,
      timeoutMs: 30_000,
      sessionIdleMs: 120_000,
    });
  });

  it('takes a model of our own as the writer', () => {
    deepEqual(loadConfig({ WRITER_MODEL: 'my-model' }).writer?.source, { folder: 'my-model' });
    match(messageOf({ WRITER_URL: 'http://localhost', WRITER_MODEL: 'm' }), /not both/);
  });

  it('has defaults that are those of .env.example', () => {
    const example = parseEnv(readFileSync(join(import.meta.dirname, '../.env.example'), 'utf8'));
    deepEqual(loadConfig(example as NodeJS.ProcessEnv), loadConfig({}));
  });
});
