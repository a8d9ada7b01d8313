/**
 * Logs what goes through the OpenAI SDK (and through every service that speaks its protocol).
 *
 *   const undertone = new Undertone({ url, key, instanceId });
 *   const chat = undertone.session({ externalId: conversationId, userId });
 *   const answer = await ask(openai, chat, { model: 'gpt-5-mini', messages });
 *
 * `messages` is the whole history, as the SDK wants it. Only what is new is logged: the user's latest turn and the
 * answer.
 */
import type OpenAI from 'openai';
import type { Session } from 'undertone/client';

type Chat = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;

/** Asks for an answer; returns its text. */
export async function ask(openai: OpenAI, chat: Session, request: Chat): Promise<string> {
  logUserTurn(chat, request.messages);
  const completion = await openai.chat.completions.create(request);
  const text = completion.choices[0]?.message.content ?? '';
  if (text !== '') void chat.assistant(text);
  return text;
}

/** Asks for an answer; yields it as it comes. What was said until it ends, is aborted or fails is logged. */
export async function* askStreaming(
  openai: OpenAI,
  chat: Session,
  request: Chat,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  logUserTurn(chat, request.messages);
  let answer = '';
  let isWhole = false;
  try {
    const stream = await openai.chat.completions.create({ ...request, stream: true }, { signal });
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content ?? '';
      answer += text;
      if (text !== '') yield text;
    }
    isWhole = signal?.aborted !== true;
  } finally {
    if (answer !== '') void chat.assistant(answer, isWhole ? {} : { metadata: { aborted: true } });
  }
}

/** The history is sent with every request; its last message is the one that is new. */
function logUserTurn(chat: Session, messages: readonly OpenAI.ChatCompletionMessageParam[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'user') return;
  const { content } = last;
  const text =
    typeof content === 'string'
      ? content
      : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (text !== '') void chat.user(text);
}
