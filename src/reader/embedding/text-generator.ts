/**
 * Generates text with a local model in the layout of the hub (`onnx/`, `tokenizer.json`). Nothing is ever fetched.
 * Covered by test/doors/writer/local-model.test.ts.
 */
import { localSettings } from './local-settings.ts';
import { AutoModelForCausalLM, AutoTokenizer, Tensor } from './transformers.ts';

export interface TextGenerator {
  /** What a model says next; the likeliest words, so the same each time. */
  generate(messages: readonly { readonly role: string; readonly content: string }[]): Promise<string>;
}

/** Longer than a summary in any language; models that think aloud have some room. */
const MOST_TOKENS = 400;

/** Loads a model. Throws what the library throws. */
export async function openGenerator(folder: string): Promise<TextGenerator> {
  const { name, settings } = localSettings(folder);
  const tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true });
  const model = await AutoModelForCausalLM.from_pretrained(name, settings);
  return {
    async generate(messages) {
      const inputs = tokenizer.apply_chat_template(
        messages.map((message) => ({ ...message })),
        { add_generation_prompt: true, return_dict: true },
      ) as Record<string, Tensor>;
      const output: unknown = await model.generate({
        ...inputs,
        max_new_tokens: MOST_TOKENS,
        do_sample: false,
      });
      if (!(output instanceof Tensor)) throw new Error('the model gave no tokens');
      const prompt = inputs['input_ids']?.dims.at(-1) ?? 0;
      const [text = ''] = tokenizer.batch_decode(output.slice(null, [prompt, output.dims.at(-1) ?? prompt]), {
        skip_special_tokens: true,
      });
      return text;
    },
  };
}
