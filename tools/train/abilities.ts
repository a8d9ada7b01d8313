/**
 * Weighs what speaks for two groups of missing abilities being one: a logistic regression on abilities written for this
 * (`abilities/`), and on the half of the gold that may be read. Prints what `src/reader/conversations/ability-weights.ts`
 * holds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  abilityEvidence,
  addKeys,
  keysOfOne,
  noGroupKeys,
  type AbilityEvidence,
  type GroupKeys,
} from '../../src/reader/conversations/ability-match.ts';
import type { GapType } from '../../src/domain/facts.ts';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { createEnricher, type Enricher } from '../../src/reader/acts/enricher.ts';
import { abilityKeysOf } from '../../src/reader/phrases/ability-keys.ts';
import { dotOf } from '../../src/reader/numeric/vectors.ts';
import { withRequest } from '../../src/reader/threads/ability-vector.ts';
import { fitDense, type DenseExample } from './dense-logistic.ts';

const MODELS_DIRECTORY = resolve(import.meta.dirname, '../../models');
const EMBEDDING_MODEL = 'undertone-small';
const DIRECTORY = resolve(import.meta.dirname, 'abilities');
const GOLD_DIRECTORY = resolve(import.meta.dirname, '../../test/gold');
/** Groups of so many wordings are compared. */
const SIZES = [1, 2, 3, 5, 7];
/** Groups of each size that an ability is cut into: fixed steps through its wordings, without a meaning. */
const STEPS = [1, 3, 7];
/** Pulls weights, each times the deviation of its evidence, to zero. */
const L2 = 1;

/** One wording of a missing ability. */
interface Wording {
  /** Abilities of other files may be the same. */
  readonly file: string;
  readonly ability: string;
  readonly user: string;
  readonly assistant: string;
}

/** A wording in which a gap was found. */
export interface FoundWording {
  readonly file: string;
  readonly ability: string;
  readonly type: GapType;
  readonly keys: GroupKeys;
  /** Of unit length. */
  readonly vector: Float32Array;
}

interface WordingGroup {
  readonly keys: GroupKeys;
  readonly count: number;
  readonly vector: Float32Array;
}

/** A file: `# ability|TYPE`, then lines `language|user|assistant`. */
export function readAbilities(text: string, file: string): Wording[] {
  let ability = '';
  return text.split('\n').flatMap((line): Wording[] => {
    if (line.startsWith('# ')) ability = line.slice(2);
    const [, user, assistant] = line.split('|');
    return line.startsWith('# ') || user === undefined || assistant === undefined
      ? []
      : [{ file, ability, user, assistant }];
  });
}

interface GoldAbility {
  readonly ability: string;
  readonly exchanges: readonly { readonly user: string; readonly assistant: string }[];
}
interface GoldGap {
  readonly gap: GapType | null;
  readonly ability?: string;
  readonly user: string;
  readonly assistant: string;
}

function goldWordings(): Wording[] {
  const linesOf = (name: string): unknown[] =>
    readFileSync(join(GOLD_DIRECTORY, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line));
  const abilities = (linesOf('abilities.jsonl') as GoldAbility[]).flatMap(({ ability, exchanges }) =>
    exchanges.map(({ user, assistant }) => ({ file: 'abilities', ability, user, assistant })),
  );
  const gaps = (linesOf('gaps.jsonl') as GoldGap[]).flatMap(({ gap, ability = '', user, assistant }) =>
    gap === null ? [] : [{ file: 'gaps', ability, user, assistant }],
  );
  return [...abilities, ...gaps];
}

/** The wordings in which a gap is found, as the worker compares them. */
export async function foundWordings(
  wordings: readonly Wording[],
  enricher: Enricher,
): Promise<FoundWording[]> {
  const enriched = await enricher.enrich(
    wordings.flatMap(({ user, assistant }) => [
      { role: 'user' as const, content: user },
      { role: 'assistant' as const, content: assistant },
    ]),
  );
  return wordings.flatMap(({ file, ability, user }, at): FoundWording[] => {
    const { vector: asked } = enriched[2 * at]!;
    const { gap } = enriched[2 * at + 1]!;
    const vector = gap === null ? null : withRequest(gap.vector, asked);
    if (gap === null || vector === null) return [];
    const keys = keysOfOne(abilityKeysOf({ ...gap, request: user }));
    return [{ file, ability, type: gap.type, keys, vector }];
  });
}

function groupOf(members: readonly FoundWording[]): WordingGroup {
  const keys = noGroupKeys();
  const sum = new Float32Array(members[0]!.vector.length);
  for (const member of members) {
    addKeys(keys, member.keys);
    member.vector.forEach((value, at) => (sum[at]! += value));
  }
  return { keys, count: members.length, vector: sum };
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  const length = Math.sqrt(dotOf(a, a) * dotOf(b, b));
  return length === 0 ? 0 : dotOf(a, b) / length;
}

/** Some of the wordings of an ability, in an order that a step through them gives. */
function cut(members: readonly FoundWording[], step: number): FoundWording[] {
  const size = members.length;
  const stride = size % step === 0 ? 1 : step;
  return members.map((_, at) => members[(at * stride + step) % size]!);
}

/** Pairs of groups of one ability, and of two. */
export function abilityExamples(found: readonly FoundWording[]): DenseExample[] {
  const examples: DenseExample[] = [];
  const add = (one: WordingGroup, other: WordingGroup, withActs: boolean, positive: boolean): void => {
    const evidence = abilityEvidence(one, other, cosineOf(one.vector, other.vector), withActs);
    examples.push({ features: Object.values(evidence) as number[], positive, weight: 1 });
  };
  for (const type of ['KNOWLEDGE', 'TOOL'] as const) {
    const withActs = type === 'TOOL';
    const own = found.filter((one) => one.type === type);
    const abilities = [...Map.groupBy(own, ({ file, ability }) => `${file} ${ability}`).values()];
    for (const [at, members] of abilities.entries())
      for (const size of SIZES.filter((least) => members.length >= least))
        for (const step of STEPS) {
          const ordered = cut(members, step);
          const group = groupOf(ordered.slice(0, size));
          const rest = ordered.slice(size);
          for (const one of rest) add(groupOf([one]), group, withActs, true);
          if (rest.length > 1) add(groupOf(rest.slice(0, 4)), group, withActs, true);
          for (const [of, others] of abilities.entries()) {
            if (of === at || others[0]!.file !== members[0]!.file) continue;
            const strangers = cut(others, step);
            for (const one of strangers.slice(0, 2)) add(groupOf([one]), group, withActs, false);
            if (strangers.length > 3) add(groupOf(strangers.slice(0, 3)), group, withActs, false);
          }
        }
  }
  return examples;
}

/** Trains the weights, and prints them. */
export async function trainAbilities(): Promise<void> {
  const embedder = await loadEmbedder({ model: EMBEDDING_MODEL, modelsDirectory: MODELS_DIRECTORY });
  const enricher = createEnricher({ embedder, cached: 0 });
  const written = readdirSync(DIRECTORY)
    .sort()
    .flatMap((file) => readAbilities(readFileSync(join(DIRECTORY, file), 'utf8'), file));
  const found = await foundWordings([...written, ...goldWordings()], enricher);
  await embedder.close();
  const examples = abilityExamples(found);
  const { weights, bias } = fitDense(examples, L2);
  const kinds = Object.keys(
    abilityEvidence({ keys: noGroupKeys(), count: 1 }, { keys: noGroupKeys(), count: 1 }, 0, true),
  ) as (keyof AbilityEvidence)[];
  const table = kinds.map((kind, at) => `  ${kind}: ${weights[at]!.toFixed(2).replace(/\.?0+$/, '')},`);
  process.stdout.write(
    `${examples.length} pairs\nexport const ABILITY_PRIOR = ${bias.toFixed(2)};\n` +
      `export const ABILITY_WEIGHTS = {\n${table.join('\n')}\n};\n`,
  );
}
