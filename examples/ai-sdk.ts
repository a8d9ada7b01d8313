/**
 * Logs what goes through the AI SDK. Wrap the model once for each turn of the user:
 *
 *   const undertone = new Undertone({ url, key, instanceId });
 *   const chat = undertone.session({ externalId: conversationId, userId });
 *   const result = streamText({ model: logged(model, chat), messages });
 *
 * The user's turn is logged once, however many steps and retries the answer takes; each text that the model says is a
 * turn of the assistant.
 */
import { wrapLanguageModel, type LanguageModelMiddleware } from 'ai';
import type { Session } from 'undertone/client';

type Model = Parameters<typeof wrapLanguageModel>[0]['model'];
type Call = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0];

export function logged(model: Model, chat: Session): ReturnType<typeof wrapLanguageModel> {
  return wrapLanguageModel({ model, middleware: logging(chat) });
}

function logging(chat: Session): LanguageModelMiddleware {
  let isLogged = false;
  const logUserTurn = ({ prompt }: Call['params']): void => {
    const last = prompt.at(-1);
    if (isLogged || last?.role !== 'user') return;
    isLogged = true;
    const text = last.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    if (text !== '') void chat.user(text);
  };
  return {
    async wrapGenerate({ doGenerate, params }) {
      logUserTurn(params);
      const result = await doGenerate();
      const text = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      if (text !== '') void chat.assistant(text);
      return result;
    },
    async wrapStream({ doStream, params }) {
      logUserTurn(params);
      const result = await doStream();
      return { ...result, stream: recordedStream(result.stream, chat) };
    },
  };
}

type Parts = Awaited<ReturnType<Call['doStream']>>['stream'];

/** The same stream. What was said until it ends, is aborted or fails is logged. */
function recordedStream(stream: Parts, chat: Session): Parts {
  const reader = stream.getReader();
  let answer = '';
  const end = (isWhole: boolean): void => {
    if (answer !== '') void chat.assistant(answer, isWhole ? {} : { metadata: { aborted: true } });
    answer = '';
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done && value.type === 'text-delta') answer += value.delta;
        if (done) end(true);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        end(false);
        controller.error(error);
      }
    },
    cancel(reason) {
      end(false);
      return reader.cancel(reason);
    },
  });
}
