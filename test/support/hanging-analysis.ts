/**
 * A thread of `AnalysisPool` whose analysis fails at certain words: `HANG` in enrich or `HANG LATER` in assign within
 * a regular expression, `FILL` and `FILL LATER` by filling the memory, `THROW` by an error. It finds in all other
 * texts of users a request about their letters.
 */
import { createRequire } from 'node:module';
import type * as AssignerModule from '../../src/reader/threads/assigner.ts';
import type { Enrichment, Turn } from '../../src/domain/facts.ts';
import { SetupError } from '../../src/errors.ts';
import { serveAnalysis } from '../../src/reader/threads/server.ts';
import { certain } from './signals.ts';

export const DIMENSIONS = 16;

/** Loaded when something is assigned: many of these threads end before, and it takes most of their start. */
const require = createRequire(import.meta.url);
const loadAssigner = (): typeof AssignerModule =>
  require('../../src/reader/threads/assigner.ts') as typeof AssignerModule;

/** Counts of letters: equal texts are equal, others are not. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const letter of text) vector[(letter.codePointAt(0) ?? 0) % DIMENSIONS]! += 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function failAt(text: string, where: '' | ' LATER'): void {
  if (text.endsWith(`HANG${where}`)) /^(?:a|a)+$/.test(`${'a'.repeat(60)}!`);
  if (text.endsWith(`THROW${where}`)) throw new Error('it threw');
  if (!text.endsWith(`FILL${where}`)) return;
  const kept: unknown[] = [];
  for (;;) kept.push('letters '.repeat(1000).match(/./g));
}

function findingOf({ role, content }: Pick<Turn, 'role' | 'content'>): Enrichment {
  const request = role === 'user' && content !== 'thanks' ? content : '';
  return {
    kind: request !== '' ? 'request' : role === 'user' ? 'reply' : 'none',
    request,
    vector: request === '' ? null : vectorOf(request),
    sentences: [],
    signals: content === 'thanks' ? certain('gratitude') : [],
    gap: null,
  };
}

await serveAnalysis(({ model }, steps) => {
  if (model === 'unusable') throw new SetupError('the model is unusable');
  const thresholds = { micro: 0.9, topic: 0.8, cluster: 0.5, repeated: 0.95 };
  return Promise.resolve({
    model: { id: 'letters', dimensions: DIMENSIONS, enrichment: 'letters' },
    enricher: {
      enrich: (turns) =>
        Promise.resolve(
          turns.map((turn, place) => {
            steps.onText(place);
            failAt(turn.content, '');
            return findingOf(turn);
          }),
        ),
    },
    embed: (texts) =>
      Promise.resolve(texts.map((text) => new Float32Array(DIMENSIONS).fill(text === '' ? 0 : 1))),
    embedRequest: (text) => Promise.resolve([vectorOf(text)]),
    newAssigner: (memoryBytes) =>
      new (loadAssigner().Assigner)({
        thresholds,
        memoryBytes,
        dimensions: DIMENSIONS,
        steps,
        detectLanguage: (text) => {
          failAt(text, ' LATER');
          return null;
        },
      }),
    close: () => Promise.resolve(),
  });
});
