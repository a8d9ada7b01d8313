/** Makes a token-classification model in the layout of the hub that takes given words for names of persons. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OnnxGraph } from './onnx-writer.ts';
import { writeTransformer } from './transformer.ts';

const LABELS = { 0: 'O', 1: 'B-PER', 2: 'I-PER', 3: 'B-LOC' };

export interface NamesModel {
  /** Lower case, one token each. */
  readonly persons: readonly string[];
  /** Words that it takes for places. */
  readonly places?: readonly string[];
  readonly labels?: Readonly<Record<number, string>>;
}

/** Each token has a label of its own, whatever stands beside it. */
export function writeNamesModel(folder: string, { persons, places = [], labels = LABELS }: NamesModel): void {
  const words = [...persons, ...places];
  const vocabulary = 1000;
  writeTransformer(folder, { words, pooling: null, vocabulary });
  const known = vocabularyOf(folder);
  const width = Object.keys(labels).length;
  const scores = new Float32Array(known.size * width);
  for (const [word, id] of known) {
    const label = persons.includes(word) ? 1 : places.includes(word) ? 3 : 0;
    scores[id * width + Math.min(label, width - 1)] = 1;
  }
  const graph = new OnnxGraph();
  const table = graph.floats([known.size, width], scores);
  graph.node('Gather', [table, 'input_ids'], {}, 'logits');
  const tokens = (name: string) => ({ name, type: 'int64' as const, dims: ['batch', 'length'] });
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  writeFileSync(
    join(folder, 'onnx/model.onnx'),
    graph.finish(['input_ids', 'attention_mask', 'token_type_ids'].map(tokens), [
      { name: 'logits', type: 'float', dims: ['batch', 'length', width] },
    ]),
  );
  const config = {
    model_type: 'bert',
    architectures: ['BertForTokenClassification'],
    id2label: labels,
    label2id: Object.fromEntries(Object.entries(labels).map(([id, label]) => [label, Number(id)])),
    hidden_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    vocab_size: known.size,
  };
  writeFileSync(join(folder, 'config.json'), `${JSON.stringify(config)}\n`);
}

function vocabularyOf(folder: string): ReadonlyMap<string, number> {
  const { model } = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')) as {
    readonly model: { readonly vocab: Readonly<Record<string, number>> };
  };
  return new Map(Object.entries(model.vocab));
}
