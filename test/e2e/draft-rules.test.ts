/** POST /v1/gaps/{id}/draft, and its button on the page of a gap. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { draftResponseSchema, type DraftResponse } from '../../src/query/briefs/brief-schema.ts';
import { keySchema } from '../../src/contract/instances.ts';
import { findChromium, openBrowser } from '../support/browser.ts';
import { startChatServer, type ChatAnswer, type ChatCall, type ChatServer } from '../support/chat-server.ts';
import { Client, faultOf, pathsOf, toSearch, type Answer, type Parameters } from '../support/client.ts';
import { assistant, CANCEL, CANNOT, fill, UNKNOWN, user } from '../support/conversations.ts';
import { shareTestService, startTestService, type TestService } from '../support/service.ts';

const chromium = findChromium();
const skip = chromium === null ? 'there is no Chromium on this machine' : false;
const HOTEL = 'Does the hotel by the lake have a pool? My booking is 482913, ann.lee@example.com.';
const ARTICLE = '# Cancelling a booking\n\nHow do I cancel a hotel booking? [to be filled in]';
/** The first call of a draft asks for this. */
const isDraft = ({ messages }: ChatCall): boolean => messages[0]?.content.startsWith('You draft') === true;

describe('a draft', () => {
  let endpoint: ChatServer;
  let service: TestService;
  let client: Client;
  let instanceId: string;
  let draftAnswer: () => ChatAnswer = () => ARTICLE;
  const gaps: Record<string, string> = {};
  before(async () => {
    endpoint = await startChatServer();
    endpoint.answer = (call) => (isDraft(call) ? draftAnswer() : 'silence');
    service = await startTestService({ WRITER_URL: endpoint.url, WRITER_TIMEOUT_MS: '2000' });
    client = new Client(service.url, (await service.newProject()).key);
    const at = '2026-05-01T10:00:00Z';
    const filled = await fill(client, [
      ...CANCEL.map((text, i) => [user(text, at, `marlow${i}`), assistant(CANNOT, at)]),
      ...[1, 2, 3].map((i) => [user(HOTEL, at, `otto${i}`), assistant(UNKNOWN, at)]),
    ]);
    ({ instanceId } = filled);
    const { elements } = await client.query(
      { groupBy: 'GAP', fields: 'sessions', instanceId },
      filled.position,
    );
    for (const { dimensions } of elements) gaps[dimensions.gap!.gapType!] = dimensions.gap!.id;
  });
  after(async () => {
    await service?.stop();
    await endpoint?.close();
  });

  const ask = (id: string | undefined, parameters: Parameters = {}): Promise<Answer> =>
    client.send(`/v1/gaps/${id}/draft?${toSearch({ instanceId, ...parameters })}`, { method: 'POST' });
  const draft = async (id: string | undefined): Promise<DraftResponse> => {
    const { status, body } = await ask(id);
    equal(status, 200, JSON.stringify(body));
    return draftResponseSchema.parse(body);
  };

  it('is Markdown under a line that says which model wrote it from how many requests', async () => {
    const { gap, markdown, model } = await draft(gaps['TOOL']);
    deepEqual([gap.id, gap.gapType, model], [gaps['TOOL'], 'TOOL', 'first-of-list']);
    match(
      markdown,
      /^> Draft of a requirement, written by the language model first-of-list from 4 requests\. .+\n\n# Cancelling/,
    );
    match((await draft(gaps['KNOWLEDGE'])).markdown, /^> Draft of an article, .+ from 3 requests/);
  });

  it('sends the model quotes without personal data, ids or whole conversations', async () => {
    const sent = endpoint.calls.filter(isDraft).map(({ messages }) => messages[1]?.content ?? '');
    ok(sent.some((text) => /Does the hotel by the lake have a pool/.test(text)));
    for (const text of sent) ok(!/482913|ann\.lee|otto|marlow|session/i.test(text), text);
  });

  it('passes on no personal data that the model makes up', async () => {
    draftAnswer = () => `${ARTICLE}\n\nAsk bob.stone@example.com.`;
    const { markdown } = await draft(gaps['TOOL']);
    ok(markdown.includes('Ask •••.') && !markdown.includes('bob.stone'), markdown);
  });

  it('is asked for by a button, shown as text, and marked', { skip }, async () => {
    draftAnswer = () => ARTICLE;
    const browser = await openBrowser(chromium ?? '');
    try {
      const page = await browser.newPage();
      const of = (type: string): string =>
        `${service.url}/?instance=${instanceId}&view=gap&range=all&id=${gaps[type]}#key=${client.key}`;
      await page.goto(of('KNOWLEDGE'));
      await page.getByRole('button', { name: 'Draft an article' }).click();
      const text = await page.getByLabel(/^Draft for /).textContent();
      match(text ?? '', /^> Draft of an article, written by the language model/);
      await page.goto('about:blank');
      await page.goto(of('TOOL'));
      await page.getByRole('button', { name: 'Draft a requirement' }).waitFor();
    } finally {
      await browser.close();
    }
  });

  // Last: after a failed call the writer pauses.
  it('says plainly what is wrong: the request, the gap, the time, or the model', async () => {
    deepEqual(pathsOf(faultOf(await ask(gaps['TOOL'], { limit: 1 }), 400, 'VALIDATION_ERROR')), ['limit']);
    faultOf(await ask(instanceId), 404, 'NOT_FOUND');
    const empty = faultOf(await ask(gaps['TOOL'], { 'dateRange.start': '2026-06-01' }), 409, 'CONFLICT');
    match(empty.message, /nothing to draft from/);
    draftAnswer = () => 'It costs 12 euros, always and everywhere, for everybody who asks.';
    match(faultOf(await ask(gaps['TOOL']), 503, 'SERVICE_UNAVAILABLE').message, /no draft that can be shown/);
    draftAnswer = () => 'silence';
    match(faultOf(await ask(gaps['TOOL']), 503, 'SERVICE_UNAVAILABLE').message, /no answer in time/);
  });
});

describe('a service without a writer', () => {
  let service: TestService;
  before(async () => {
    service = await shareTestService();
  });
  after(() => service.stop());

  it('says that it cannot draft, and so does the key', async () => {
    const project = await service.newProject();
    const client = new Client(service.url, project.key);
    const instanceId = await service.newInstance(project);
    const path = `/v1/gaps/${instanceId}/draft?${toSearch({ instanceId })}`;
    match(faultOf(await client.send(path, { method: 'POST' }), 409, 'CONFLICT').message, /WRITER_URL/);
    equal(keySchema.parse((await client.send('/v1/key')).body).drafts, false);
  });
});
