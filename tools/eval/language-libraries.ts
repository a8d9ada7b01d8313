/** Libraries that tell languages, to compare with; each only where it is installed. */
import { languageOf } from './language-sets.ts';

/** Gives a language or null. */
export type Teller = (text: string) => string | null;

interface Library {
  readonly name: string;
  readonly specifier: string;
  /** Null when the module is not what it was when this was written. */
  teller(module: Readonly<Record<string, unknown>>): Teller | null;
}

/** What `franc` answers when it does not know. */
const UNDETERMINED = 'und';

const LIBRARIES: readonly Library[] = [
  ...['small', 'medium', 'large'].map((size) => ({
    name: `eld ${size}, reliable`,
    specifier: `eld/${size}`,
    teller: ({ eld }: Readonly<Record<string, unknown>>) => eldTeller(eld),
  })),
  ...['franc', 'franc-min'].map((name) => ({
    name,
    specifier: name,
    teller: ({ franc }: Readonly<Record<string, unknown>>) => plainTeller(franc, { minLength: 3 }),
  })),
  { name: 'tinyld', specifier: 'tinyld', teller: ({ detect }) => plainTeller(detect, {}) },
];

function eldTeller(eld: unknown): Teller | null {
  if (typeof eld !== 'object' || eld === null || !('detect' in eld)) return null;
  const detector = eld as { detect(text: string): { language: string; isReliable(): boolean } };
  return (text) => {
    const found = detector.detect(text);
    return found.isReliable() && found.language !== '' ? languageOf(found.language) : null;
  };
}

function plainTeller(detect: unknown, options: object): Teller | null {
  if (typeof detect !== 'function') return null;
  return (text) => {
    const code: unknown = detect(text, options);
    return typeof code !== 'string' || code === '' || code === UNDETERMINED ? null : languageOf(code);
  };
}

/** Those that are installed, and the names of the packages that are not. */
export async function installedLibraries(): Promise<{ tellers: [string, Teller][]; missing: string[] }> {
  const tellers: [string, Teller][] = [];
  const missing: string[] = [];
  for (const { name, specifier, teller } of LIBRARIES) {
    const module = await moduleOf(specifier);
    const tell = module === null ? null : teller(module);
    if (tell === null) missing.push(specifier.replace(/\/.*/, ''));
    else tellers.push([name, tell]);
  }
  return { tellers, missing: [...new Set(missing)] };
}

async function moduleOf(specifier: string): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    return (await import(specifier)) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
