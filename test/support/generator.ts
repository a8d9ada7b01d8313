import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OnnxGraph } from './onnx-writer.ts';

const SPECIAL = ['[UNK]', '[GO]', '[END]'];

/**
 * Writes a tiny text-generation model in the layout of the hub: to whatever it is told, it says these words, each of
 * which follows the one before. With `endless` it begins anew instead of ending.
 */
export function writeGenerator(folder: string, says: readonly string[], endless = false): void {
  const words = [...SPECIAL, ...says];
  const size = words.length;
  const next = words.map((_, id) => {
    if (id === 1) return SPECIAL.length;
    if (id < SPECIAL.length) return 2;
    return id + 1 < size ? id + 1 : endless ? SPECIAL.length : 2;
  });
  const graph = new OnnxGraph();
  const table = graph.floats(
    [size, size],
    next.flatMap((follower) => words.map((_, id) => (id === follower ? 10 : 0))),
  );
  const logits = graph.node('Gather', [table, 'input_ids'], {}, 'logits');
  const files: Record<string, unknown> = {
    'config.json': {
      model_type: 'gpt2',
      architectures: ['GPT2LMHeadModel'],
      n_embd: 8,
      n_head: 1,
      n_layer: 1,
      vocab_size: size,
      bos_token_id: 1,
      eos_token_id: 2,
    },
    'generation_config.json': { bos_token_id: 1, eos_token_id: 2, pad_token_id: 2 },
    'tokenizer_config.json': {
      tokenizer_class: 'PreTrainedTokenizerFast',
      unk_token: '[UNK]',
      eos_token: '[END]',
      pad_token: '[END]',
      chat_template:
        '{% for message in messages %}{{ message.content }} {% endfor %}{% if add_generation_prompt %}[GO]{% endif %}',
    },
    'tokenizer.json': {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: SPECIAL.map((content, id) => ({
        id,
        content,
        special: true,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
      })),
      normalizer: null,
      pre_tokenizer: { type: 'WhitespaceSplit' },
      post_processor: null,
      decoder: null,
      model: {
        type: 'WordLevel',
        unk_token: '[UNK]',
        vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      },
    },
  };
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(folder, file), JSON.stringify(content));
  writeFileSync(
    join(folder, 'onnx/model.onnx'),
    graph.finish(
      [{ name: 'input_ids', type: 'int64', dims: ['batch', 'tokens'] }],
      [{ name: logits, type: 'float', dims: ['batch', 'tokens', size] }],
    ),
  );
}
