/**
 * Trains the heads that grade satisfaction and dissatisfaction. Labels come from the rules of
 * src/enrich/signals.ts, from intents (thanks, farewells), from what the other side answers (an apology,
 * "you're welcome") and from sentences that we wrote. Only permissively licensed texts; no graded one.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataSetPath, readDialogues, readIntents } from '../eval/data.ts';
import { encodeHead, featuresOf, HEADS_DIRECTORY } from '../../src/enrich/heads.ts';
import { detectByPhrase, typeOf } from '../../src/enrich/signals.ts';
import { fit, type Example } from './logistic.ts';
import { seeds, type Seed } from './seeds.ts';

interface Labelled {
  readonly text: string;
  readonly sat: boolean;
  readonly dsat: boolean;
  readonly weight: number;
}

const INTENT_SETS = [
  'intents/banking77',
  'intents/clinc150-5domains',
  'intents/multidogo-fastfood-media-software',
  'intents/nlupp',
  'intents/snips-train',
  'intents/rasa-nlu',
] as const;
const DIALOGUE_SETS = [
  'dialogues/llm-hh-rlhf-harmless',
  'dialogues/llm-tau-bench-retail-fewshot',
  'dialogues/llm-oasst-en100',
  'dialogues/taskmaster4-coffee',
] as const;
const THANKS = new Set(['thankyou', 'thank_you']);
const APOLOGY =
  /^(?:oh,? |ah,? )?(?:i(?:'m| am) (?:so |very |really )?sorry|sorry (?:about|for)|my (?:apologies|mistake|bad)|i apologi[sz]e|you(?:'re| are) (?:absolutely |completely )?right)/i;
const WELCOME =
  /^(?:you(?:'re| are) (?:very |most )?welcome|(?:i'm|i am) glad|my pleasure|no problem|happy to (?:have )?help|glad (?:i|to|that))/i;
const SEED_WEIGHT = 3;

function byRule(text: string): { sat: boolean; dsat: boolean } {
  const types = detectByPhrase(text).map(({ key }) => typeOf(key));
  return { sat: types.includes('SAT'), dsat: types.includes('DSAT') };
}

async function labelled(dataDirectory: string): Promise<Labelled[]> {
  const examples: Labelled[] = [];
  const add = (list: readonly Seed[], sat: boolean, dsat: boolean): void => {
    for (const { text, weight } of list) examples.push({ text, sat, dsat, weight: weight * SEED_WEIGHT });
  };
  add(seeds.satisfied, true, false);
  add(seeds.dissatisfied, false, true);
  add(seeds.neutral, false, false);
  for (const set of INTENT_SETS) {
    for await (const { text, intent } of readIntents(dataSetPath(dataDirectory, set))) {
      const rule = byRule(text);
      examples.push({
        text,
        sat: rule.sat || THANKS.has(intent),
        dsat: rule.dsat && !THANKS.has(intent),
        weight: 0.1,
      });
    }
  }
  for (const set of DIALOGUE_SETS) {
    for await (const { turns } of readDialogues(dataSetPath(dataDirectory, set))) {
      turns.forEach((turn, i) => {
        if (turn.role !== 'user') return;
        const rule = byRule(turn.content);
        const answer = turns[i + 1]?.content ?? '';
        const isShort = turn.content.length < 200 && i > 0;
        examples.push({
          text: turn.content,
          sat: rule.sat || (isShort && !rule.dsat && WELCOME.test(answer)),
          dsat: rule.dsat || (isShort && !rule.sat && APOLOGY.test(answer)),
          weight: 1,
        });
      });
    }
  }
  return examples;
}

/** Trains and writes `sat.bin` and `dsat.bin`. */
export async function trainSignals(dataDirectory: string): Promise<void> {
  const examples = await labelled(dataDirectory);
  const features = examples.map(({ text }) => featuresOf(text));
  for (const type of ['sat', 'dsat'] as const) {
    const positives = examples.filter((example) => example[type]).length;
    const { weights, bias } = fit(
      examples.map((example, i): Example => ({
        features: features[i] ?? new Uint16Array(),
        positive: example[type],
        weight: example.weight,
      })),
    );
    writeFileSync(join(HEADS_DIRECTORY, `${type}.bin`), encodeHead(weights, bias));
    process.stdout.write(`${type}: ${positives} positive of ${examples.length} examples\n`);
  }
}
