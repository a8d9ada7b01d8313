/**
 * Trains the head that grades admissions of inability, on permissively licensed dialogues: labelled
 * ones (nothing to offer, off topic, hand-labelled refusals as the contrast) and, for the rest, the
 * phrases of src/reader/acts/gaps.ts, and the tuned half of our own gold. Only the half of the labelled conversations that
 * nothing is reported on.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collect, dataSetPath, readDialogues } from '../eval/data.ts';
import { readGapGold } from '../eval/gap-gold.ts';
import { gapExamples, GAP_SETS } from '../eval/gaps.ts';
import { findGapInOpening, openingOf } from '../../src/reader/acts/gaps.ts';
import { encodeHead, featuresOf, HEADS_DIRECTORY } from '../../src/reader/acts/heads.ts';
import { fit, type Example } from './logistic.ts';

/** Share-alike: measured on, not trained on. */
const NOT_TRAINED_ON = new Set(['dialogues/sgd-train']);
const BY_RULE = [
  'dialogues/llm-glaive-toolcall-en-zh',
  'dialogues/llm-tau-bench-retail-fewshot',
  'dialogues/llm-oasst-en100',
  'dialogues/llm-hh-rlhf-harmless',
] as const;

/** An example of our own stands for more than one of a data set, which says the same thing over and over. */
const GOLD_WEIGHT = 3;

/** Trains and writes `gap.bin`. */
export async function trainGaps(dataDirectory: string): Promise<void> {
  const examples: Example[] = [];
  for (const { set, examplesOf } of GAP_SETS) {
    if (NOT_TRAINED_ON.has(set)) continue;
    for (const { text, gap } of await gapExamples(dataSetPath(dataDirectory, set), examplesOf, 'tune')) {
      examples.push({ features: featuresOf(openingOf(text)), positive: gap, weight: 1 });
    }
  }
  for (const set of BY_RULE) {
    for (const { turns } of await collect(readDialogues(dataSetPath(dataDirectory, set)))) {
      for (const { role, content } of turns) {
        if (role !== 'assistant') continue;
        examples.push({
          features: featuresOf(openingOf(content)),
          positive: findGapInOpening(content).missing !== null,
          weight: 1,
        });
      }
    }
  }
  for (const { assistant, gap } of readGapGold('tuned'))
    examples.push({ features: featuresOf(assistant), positive: gap !== null, weight: GOLD_WEIGHT });
  const { weights, bias } = fit(examples);
  writeFileSync(join(HEADS_DIRECTORY, 'gap.bin'), encodeHead(weights, bias));
  const positives = examples.filter(({ positive }) => positive).length;
  process.stdout.write(`gap: ${positives} positive of ${examples.length} examples\n`);
}
