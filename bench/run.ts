/** `npm run bench -- NAME [options]`: runs bench/NAME.ts; without a name it lists them. */
import { readdirSync } from 'node:fs';

/** What a benchmark file exports: it prints its figures, and throws or sets the exit code when they are wrong. */
interface Benchmark {
  run(args: readonly string[]): Promise<void>;
}

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted();
const [name, ...args] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  console.error(`Usage: npm run bench -- NAME [options]\nNAME is one of: ${names.join(', ')}`);
  process.exitCode = 2;
} else {
  const benchmark = (await import(`./${name}.ts`)) as Partial<Benchmark>;
  if (benchmark.run === undefined) throw new Error(`bench/${name}.ts exports no run(args)`);
  await benchmark.run(args);
}
