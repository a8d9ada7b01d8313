import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallError, type ChatMessage, type TextModel } from '../../../src/doors/writer/chat-endpoint.ts';
import { Drafter } from '../../../src/doors/writer/drafter.ts';
import { draftDataOf, judgeDraft, OPEN_PLACE, type DraftSource } from '../../../src/doors/writer/drafts.ts';
import { silentLogger } from '../../../src/logger.ts';

const SOURCE: DraftSource = {
  gap: { name: 'Ship to Norway', gapType: 'KNOWLEDGE', description: 'Does not know the costs' },
  groups: [
    {
      topic: { name: 'Shipping' },
      sessions: 4,
      questions: [
        { text: 'What does it cost to ship 2 lamps to Norway?' },
        { text: 'How long does it take?' },
      ],
    },
    { topic: null, sessions: 1, questions: [] },
  ],
  arguments: [{ kind: 'ADDRESS', requests: 1 }],
  answers: [{ text: 'I do not know what shipping costs.' }],
};
const ARTICLE = `# Shipping to Norway

1. What does it cost to ship 2 lamps to Norway? ${OPEN_PLACE}
2. How long does it take? ${OPEN_PLACE}`;

/** A model that gives these answers, in their order; an error is thrown. */
function modelOf(...answers: readonly (string | Error)[]): TextModel & { readonly prompts: ChatMessage[][] } {
  const prompts: ChatMessage[][] = [];
  return {
    prompts,
    async complete(messages) {
      prompts.push([...messages]);
      const answer = answers[prompts.length - 1] ?? '';
      if (answer instanceof Error) throw answer;
      return { text: answer, model: 'scribe' };
    },
    name: async () => 'scribe',
    close: async () => undefined,
  };
}

function drafterOf(model: TextModel, callsPerHour = 10): Drafter {
  return new Drafter({ model, callsPerHour, logger: silentLogger(), firstPauseMs: 60_000 });
}

const never = (): AbortSignal => new AbortController().signal;

describe('a drafter', () => {
  it('sends the quotes and what is demanded, and nothing else of the brief', async () => {
    const model = modelOf(ARTICLE);
    const source = {
      ...SOURCE,
      groups: SOURCE.groups.map((group) => ({
        ...group,
        questions: group.questions.map((said) => ({ ...said, sessionId: 'secret session' })),
      })),
    };
    deepEqual(await drafterOf(model).draft(source, never()), { text: ARTICLE, model: 'scribe' });
    const [[task, data] = []] = model.prompts;
    match(task?.content ?? '', /help centre.+invent no fact.+\[to be filled in\].+never follow/s);
    deepEqual(JSON.parse(data?.content ?? ''), {
      gap: SOURCE.gap,
      asked: [
        {
          topic: 'Shipping',
          conversations: 4,
          questions: ['What does it cost to ship 2 lamps to Norway?', 'How long does it take?'],
        },
      ],
      requestsHold: [{ kind: 'ADDRESS', requests: 1 }],
      assistantSays: ['I do not know what shipping costs.'],
    });
    const tool = modelOf(ARTICLE);
    await drafterOf(tool).draft({ ...SOURCE, gap: { ...SOURCE.gap, gapType: 'TOOL' } }, never());
    match(tool.prompts[0]?.[0]?.content ?? '', /requirement/);
  });

  it('has a draft with an invented number written anew, and says what was wrong', async () => {
    const model = modelOf(ARTICLE.replace(OPEN_PLACE, 'It costs 29 euros.'), ARTICLE);
    equal((await drafterOf(model).draft(SOURCE, never())).text, ARTICLE);
    match(model.prompts[1]?.at(-1)?.content ?? '', /numbers that no request has: 29\./);
  });

  it('says plainly that the model gave none, quoting none of it', async () => {
    const invented = ARTICLE.replaceAll(OPEN_PLACE, 'Ada knows.');
    const drafter = drafterOf(modelOf(invented, invented));
    await rejects(drafter.draft(SOURCE, never()), (error: Error & { code?: string }) => {
      equal(error.code, 'SERVICE_UNAVAILABLE');
      match(error.message, /^The writer \(scribe\) gave no draft that can be shown: it never says \[to be/);
      ok(!error.message.includes('Ada'));
      return true;
    });
  });

  it('tells of a failed call and of the pause after it, and of a budget that is spent', async () => {
    const failing = drafterOf(modelOf(new CallError('failed', 'unreachable')));
    const code = 'SERVICE_UNAVAILABLE';
    await rejects(failing.draft(SOURCE, never()), {
      code,
      message: 'The writer gave no draft: unreachable.',
      retryAfter: 60,
    });
    await rejects(failing.draft(SOURCE, never()), { code, message: /^The writer failed just now/ });
    const poor = drafterOf(modelOf(ARTICLE), 1);
    await poor.draft(SOURCE, never());
    await rejects(poor.draft(SOURCE, never()), {
      code: 'RATE_LIMIT_EXCEEDED',
      message: /WRITER_CALLS_PER_HOUR/,
    });
  });

  it('does not pause because nobody waits any more', async () => {
    const leaving = new AbortController();
    const model = modelOf(new CallError('failed', 'stopped'), ARTICLE);
    const left: TextModel = {
      ...model,
      complete: (...call) => {
        if (model.prompts.length === 0) leaving.abort();
        return model.complete(...call);
      },
    };
    const drafter = drafterOf(left);
    await rejects(drafter.draft(SOURCE, leaving.signal), { message: /^The draft was stopped/ });
    equal((await drafter.draft(SOURCE, never())).text, ARTICLE);
  });

  it('spends no call on whoever has left', async () => {
    const model = modelOf(ARTICLE);
    const drafter = drafterOf(model, 1);
    await rejects(drafter.draft(SOURCE, AbortSignal.abort()), { message: /^The draft was stopped/ });
    equal((await drafter.draft(SOURCE, never())).text, ARTICLE);
    equal(model.prompts.length, 1);
  });

  it('asks nothing where no request can be quoted', async () => {
    const model = modelOf(ARTICLE);
    await rejects(drafterOf(model).draft({ ...SOURCE, groups: [] }, never()), { code: 'CONFLICT' });
    equal(model.prompts.length, 0);
  });
});

describe('the data of a draft', () => {
  it('has no personal data in names, and no more than the prompt may hold', () => {
    const many = Array.from({ length: 20 }, () => ({
      topic: { name: 'Parcels of ann.lee@example.com' },
      sessions: 1,
      questions: Array.from({ length: 8 }, () => ({ text: 'Where is it? '.repeat(20) })),
    }));
    const gap = { ...SOURCE.gap, name: 'Call ann.lee@example.com' };
    const data = draftDataOf({ ...SOURCE, gap, groups: many });
    const text = JSON.stringify(data);
    ok(!text.includes('ann.lee'), text);
    ok(text.length < 10_000, String(text.length));
  });
});

describe('a draft', () => {
  const data = draftDataOf(SOURCE)!;
  const faultOf = (answer: string): string => {
    const verdict = judgeDraft(data, answer);
    return 'fault' in verdict ? verdict.fault : 'none';
  };

  it('loses the fence and the thoughts around it, and personal data', () => {
    const fenced = `<think>\nHm.\n</think>\n\`\`\`markdown\n${ARTICLE}\n\`\`\``;
    deepEqual(judgeDraft(data, fenced), { text: ARTICLE });
    deepEqual(judgeDraft(data, fenced.replaceAll('\n', '\r\n')), { text: ARTICLE });
    const verdict = judgeDraft(data, `${ARTICLE}\n\nWrite to ann.lee@example.com.`);
    ok('text' in verdict && verdict.text.includes('•••') && !verdict.text.includes('ann.lee'));
  });

  it('is refused with links, HTML, invisible characters, another script, or without places to fill in', () => {
    match(faultOf(`${ARTICLE}\n![a](x)`), /link/);
    match(faultOf(`${ARTICLE}\nhttps://evil.example`), /link/);
    match(faultOf(`${ARTICLE}\n[a]: //evil.example`), /link/);
    match(faultOf(`${ARTICLE}\n<img src=x>`), /HTML/);
    match(faultOf(`${ARTICLE}\n\u202eabc`), /cannot be seen/);
    match(faultOf(`${ARTICLE}\nДоставка в Норвегию`), /language/);
    match(faultOf(ARTICLE.replaceAll(OPEN_PLACE, 'Soon.')), /never says/);
    match(faultOf(OPEN_PLACE), /says nothing/);
    match(faultOf(`${ARTICLE}\n${'more words '.repeat(2000)}`), /more than/);
    equal(faultOf(ARTICLE.replace('2 lamps', '２ lamps')), 'it states numbers that no request has');
  });
});
