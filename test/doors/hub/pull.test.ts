import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { loadEmbedder } from '../../../src/reader/embedding/embedder.ts';
import { SetupError } from '../../../src/errors.ts';
import { damagesOf, type Manifest } from '../../../src/doors/hub/manifest.ts';
import { pullModel, type Pulled, type PullOptions } from '../../../src/doors/hub/pull.ts';
import { COMMIT, NO_FAULTS, startHub, type HubServer } from '../../support/hub-server.ts';
import { writeTransformer } from '../../support/transformer.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-pull-'));
after(() => rmSync(folder, { recursive: true }));
const ID = 'acme/tiny-e5';
const NEXT = 'b'.repeat(40);
const WEIGHTS = 'onnx/model.onnx';

describe('pulling a model', () => {
  let hub: HubServer;
  let models: string;
  let made = 0;
  /** Revisions whose commit is none. */
  const odd = { dots: '..', dot: '.', word: 'main', dashes: '-'.repeat(40), short: 'abcdef0' };

  before(async () => {
    const at = (name: string): string => join(folder, 'hub', name);
    writeTransformer(at('tiny'), { pooling: null });
    writeFileSync(join(at('tiny'), 'README.md'), '# Tiny\n');
    writeFileSync(join(at('tiny'), 'pytorch_model.bin'), 'not wanted');
    mkdirSync(join(at('plain')));
    writeFileSync(join(at('plain'), 'config.json'), '{}');
    writeFileSync(join(at('plain'), 'model.safetensors'), 'x');
    cpSync(at('tiny'), at('broken'), { recursive: true });
    truncateSync(join(at('broken'), WEIGHTS), 9000);
    cpSync(at('tiny'), at('notjson'), { recursive: true });
    writeFileSync(join(at('notjson'), 'config.json'), '<html>');
    hub = await startHub({
      [ID]: { folder: at('tiny'), revisions: { v2: NEXT, ...odd }, licence: 'mit' },
      'acme/plain': { folder: at('plain') },
      'acme/broken': { folder: at('broken') },
      'acme/notjson': { folder: at('notjson') },
      'acme/gated': { folder: at('tiny'), gated: 'hf_secret' },
      single: { folder: at('tiny') },
    });
  });
  after(() => hub.close());
  afterEach(() => {
    Object.assign(hub.faults, NO_FAULTS);
    hub.requests.length = 0;
  });

  function pull(
    id: string,
    options: Partial<PullOptions> & { token?: string; url?: string; signal?: AbortSignal } = {},
  ): Promise<Pulled> {
    const { token, url = hub.url, signal, ...rest } = options;
    return pullModel({
      hub: { url, token, pauseMs: 1, signal },
      id,
      revision: 'main',
      modelsDirectory: models,
      onProgress: () => undefined,
      ...rest,
    });
  }
  const fresh = (): void => {
    made += 1;
    models = join(folder, `models-${made}`);
  };
  const fails = (work: Promise<unknown>, message: RegExp): Promise<void> =>
    rejects(work, (error) => {
      ok(error instanceof SetupError, String(error));
      ok(!error.message.includes('\n'));
      match(error.message, message);
      return true;
    });
  const resolved = (): string[] => hub.requests.filter((request) => request.includes(`/resolve/`));

  it('fetches what is needed and nothing else, checked, and loads without the hub', async () => {
    fresh();
    const seen: number[] = [];
    let announced = 0;
    const {
      folder: at,
      manifest,
      unchanged,
    } = await pull(ID, {
      onProgress: (_, __, done, all) => {
        announced = all;
        seen.push(done);
      },
    });
    equal(at, join(models, ID));
    equal(unchanged, false);
    deepEqual(readdirSync(at, { recursive: true }).map(String).toSorted(), [
      '.gitignore',
      'README.md',
      'config.json',
      'onnx',
      WEIGHTS,
      'pulled.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    equal(manifest.commit, COMMIT);
    equal(manifest.licence, 'mit');
    equal(manifest.dimensions, 32);
    equal(seen.at(-1), announced);
    ok(seen.every((bytes, i) => bytes >= (seen[i - 1] ?? 0)));
    deepEqual(
      manifest.files.map(({ size }) => size).reduce((sum, size) => sum + size, 0),
      announced,
    );
    deepEqual(readdirSync(join(models, '.incoming')), ['.gitignore']);
    const asked = hub.requests.length;
    const embedder = await loadEmbedder({ model: ID, modelsDirectory: models });
    equal(embedder.folder.prefix, 'query: ');
    equal((await embedder.embed(['hello']))[0]?.length, 32);
    await embedder.close();
    equal(hub.requests.length, asked);
  });

  it('leaves a whole model as it is, mends a damaged one, and follows a revision', async () => {
    fresh();
    await pull(ID);
    hub.requests.length = 0;
    equal((await pull(ID)).unchanged, true);
    deepEqual(resolved(), []);
    const weights = join(models, ID, WEIGHTS);
    const bytes = readFileSync(weights);
    bytes[5000] = (bytes[5000] ?? 0) ^ 1;
    writeFileSync(weights, bytes);
    equal((await pull(ID)).unchanged, false);
    equal((await pull(ID, { revision: 'v2' })).manifest.commit, NEXT);
    equal((await pull(ID, { revision: NEXT })).unchanged, true);
  });

  it('takes ids without an owner, but never a folder that it did not make', async () => {
    fresh();
    await pull('single');
    mkdirSync(join(models, ID), { recursive: true });
    await fails(pull(ID), /was not pulled: move it away/);
    for (const id of ['../x', 'a/../b', 'a/b/c', '/etc', '', '.hidden', 'a/.b'])
      await fails(pull(id), /is no hub id/);
  });

  it('begins again after the connection broke, and leaves nothing of a pull that was stopped', async () => {
    fresh();
    hub.faults.cut = { path: WEIGHTS, after: 10_000, times: 2 };
    await pull(ID);
    equal(hub.requests.filter((request) => request.startsWith('/stored/')).length, 3);
    fresh();
    const interruption = new AbortController();
    const onProgress: PullOptions['onProgress'] = (_, file) => {
      if (file === WEIGHTS) interruption.abort();
    };
    await rejects(pull(ID, { signal: interruption.signal, onProgress }), { name: 'AbortError' });
    deepEqual(readdirSync(models, { recursive: true }).map(String), ['.incoming', '.incoming/.gitignore']);
    await pull(ID);
  });

  it('installs nothing that is not what was announced', async () => {
    fresh();
    for (const path of [WEIGHTS, 'config.json']) {
      hub.faults.garble = { path, times: 1 };
      await fails(
        pull(ID),
        new RegExp(`${path} of acme/tiny-e5 arrived .* with another digest: nothing was`),
      );
    }
    for (const id of ['acme/broken', 'acme/notjson'])
      await fails(pull(id), /arrived whole, but cannot be used \(.*\): nothing was installed/);
    deepEqual(readdirSync(models), ['.incoming']);
  });

  it('waits while the hub is busy, and says so when it stays busy', async () => {
    fresh();
    hub.faults.busy = { status: 503, times: 2 };
    await pull(ID);
    fresh();
    hub.faults.busy = { status: 503, times: 99 };
    await fails(pull(ID), /cannot be reached \(it answered 503\)\. Try again later/);
    hub.faults.busy = null;
    hub.faults.cut = { path: WEIGHTS, after: 0, times: 99 };
    await fails(pull(ID), /cannot be reached \(.+\)\. Try again later/);
  });

  const refusals: readonly [string, () => Promise<unknown>, RegExp][] = [
    [
      'there is no such model',
      () => pull('acme/none'),
      /There is no model acme\/none at .* \(401\); if it is private, set HF_TOKEN/,
    ],
    ['there is no such revision', () => pull(ID, { revision: 'v9' }), /has no such revision: .*tree\/main/],
    [
      'terms have to be accepted',
      () => pull('acme/gated'),
      /is gated \(401\): accept its terms at .*acme\/gated, then set HF_TOKEN/,
    ],
    [
      'the token is not let in',
      () => pull('acme/gated', { token: 'hf_wrong' }),
      /is gated \(403\).*check that HF_TOKEN/,
    ],
    [
      'there is no ONNX file',
      () => pull('acme/plain'),
      /has no onnx\/model_quantized\.onnx or .*onnx-community\/plain-ONNX, or make one as docs\/models\.md says/,
    ],
    [
      'other weights are wanted',
      () => pull(ID, { dtype: 'q8' }),
      /has no onnx\/model_quantized\.onnx\. Look for/,
    ],
    [
      'nothing listens',
      () => pull(ID, { url: 'http://127.0.0.1:59' }),
      /http:\/\/127\.0\.0\.1:59 cannot be reached \(ECONNREFUSED\)\. Try again later.*HF_ENDPOINT/,
    ],
    [
      'there is no such host',
      () => pull(ID, { url: 'http://hub.invalid' }),
      /cannot be reached \((?:ENOTFOUND|EAI_AGAIN)\)/,
    ],
  ];
  for (const [what, work, message] of refusals) {
    it(`says what to do when ${what}`, async () => {
      fresh();
      await fails(work(), message);
      ok(!existsSync(join(models, ID)));
    });
  }

  for (const [revision, commit] of Object.entries(odd)) {
    it(`takes no commit that is none: ${commit}`, async () => {
      fresh();
      await fails(pull(ID, { revision }), /does not answer as a hub does/);
      ok(!existsSync(models));
    });
  }

  it('asks for no revision that is another address', async () => {
    fresh();
    for (const revision of ['..', '.', ''])
      await fails(pull(ID, { revision }), /is no revision: it is a branch, a tag or a commit/);
    deepEqual(hub.requests, []);
  });

  for (const [path, as] of [
    [WEIGHTS, { lfs: undefined, size: undefined }],
    [WEIGHTS, { lfs: { size: 5 } }],
    [WEIGHTS, { lfs: { size: 5, sha256: 'abc' } }],
    [WEIGHTS, { lfs: undefined, blobId: '../x' }],
    ['config.json', { size: undefined }],
    ['config.json', { size: null, blobId: null }],
    ['tokenizer.json', { blobId: undefined }],
    ['README.md', { blobId: undefined }],
  ] as const) {
    it(`takes no file unmeasured: ${path} with ${JSON.stringify(as)}`, async () => {
      fresh();
      hub.faults.unnamed = { path, as };
      await fails(pull(ID), new RegExp(`does not tell size and digest of ${path} .*nothing was installed`));
      deepEqual(resolved(), []);
      ok(!existsSync(join(models, ID)));
    });
  }

  it('reads nothing outside its folder that its list of files names', async () => {
    fresh();
    const { folder: at } = await pull(ID);
    const list = join(at, 'pulled.json');
    const text = readFileSync(list, 'utf8');
    for (const path of ['../../../etc/hostname', '/etc/hostname']) {
      writeFileSync(list, text.replace('"README.md"', JSON.stringify(path)));
      await fails(pull(ID), /pulled\.json is not usable \(files\.\d\.path: must be a path below the folder/);
    }
    writeFileSync(list, text);
    rmSync(join(at, 'README.md'));
    symlinkSync(join(folder, 'hub/tiny/README.md'), join(at, 'README.md'));
    deepEqual(await damagesOf(at, JSON.parse(text) as Manifest), [
      'README.md leads out of the folder by a link',
    ]);
  });

  it('says what to do when it is no hub that answers', async () => {
    fresh();
    hub.faults.busy = { status: 200, times: 1 };
    await fails(pull(ID), /does not answer as a hub does/);
  });

  it('takes a gated model with the token', async () => {
    fresh();
    await pull('acme/gated', { token: 'hf_secret' });
  });
});
