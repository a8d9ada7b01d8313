/**
 * Generates text with a local model in the layout of the hub (`onnx/`, `tokenizer.json`). Never fetches anything.
 *
 * Test: test/doors/writer/local-model.test.ts.
 */
import { localSettings } from './local-settings.ts';
import { AutoModelForCausalLM, AutoTokenizer, Tensor } from './transformers.ts';

export interface TextGenerator {
  /** Returns a model's next message. Takes the likeliest tokens, so the same input gives the same text. */
  generate(messages: readonly { readonly role: string; readonly content: string }[]): Promise<string>;
}

/** Most tokens of an answer: longer than a summary in any language, with some room for models that think aloud. */
const MOST_TOKENS = 400;

/** Loads a model. Passes on the library's errors. */
export async function openGenerator(folder: string, mostTokens = MOST_TOKENS): Promise<TextGenerator> {
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
        max_new_tokens: mostTokens,
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
