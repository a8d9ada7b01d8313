/** GET /v1/gaps/{id}/brief: what people asked for where the assistant lacked something. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { briefResponseSchema, type BriefResponse } from '../../src/query/briefs/brief-schema.ts';
import { Client, faultOf, pathsOf, toSearch, type Parameters } from '../support/client.ts';
import { assistant, CANCEL, CANNOT, DONE, fill, PASSWORD, user } from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let instanceId: string;
let gapId: string;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  const refused = CANCEL.map((text, day) => {
    const at = `2026-05-0${day + 1}T10:00:00Z`;
    return [
      user(`${text} It is booking 482913 of ann.lee@example.com.`, at, `marlow${day}`),
      assistant('Are you sure?', at),
      // Says too little to be the request.
      user('yes', at, `marlow${day}`),
      // It calls the user by the id.
      assistant(`${CANNOT} Sorry, marlow${day}.`, at),
    ];
  });
  const done = PASSWORD.map((text) => [
    user(text, '2026-05-05T10:00:00Z', 'bob'),
    assistant(DONE, '2026-05-05T10:00:00Z'),
  ]);
  const filled = await fill(client, [...refused, ...done]);
  ({ instanceId } = filled);
  const { elements } = await client.query(
    { groupBy: 'GAP', fields: 'sessions', instanceId },
    filled.position,
  );
  equal(elements.length, 1);
  gapId = elements[0]!.dimensions.gap!.id;
});
after(() => service.stop());

async function brief(parameters: Parameters = {}): Promise<BriefResponse> {
  const { status, body } = await client.send(
    `/v1/gaps/${gapId}/brief?${toSearch({ instanceId, ...parameters })}`,
  );
  equal(status, 200, JSON.stringify(body));
  return briefResponseSchema.parse(body);
}

async function text(accept: string): Promise<{ readonly type: string; readonly body: string }> {
  const response = await fetch(`${service.url}/v1/gaps/${gapId}/brief?${toSearch({ instanceId })}`, {
    headers: { 'x-api-key': client.key, accept },
  });
  equal(response.status, 200);
  return { type: response.headers.get('content-type') ?? '', body: await response.text() };
}

describe('a brief', () => {
  it('quotes the requests, not the short turn before the reply, without personal data', async () => {
    const { gap, fields, groups, others, read, arguments: held, answers } = await brief();
    deepEqual([gap.id, gap.gapType, fields.sessions, others, read], [gapId, 'TOOL', 4, 0, 4]);
    deepEqual(
      groups.reduce((sum, { sessions }) => sum + sessions, 0),
      4,
    );
    const questions = groups.flatMap((group) => group.questions.map((one) => one.text));
    equal(questions.length, 4);
    for (const question of questions) {
      match(question, /cancel/i);
      ok(!/482913|example\.com|ann/i.test(question), question);
    }
    deepEqual(held.find(({ kind }) => kind === 'EMAIL')?.requests, 4);
    deepEqual(
      answers.map((one) => one.text),
      [`${CANNOT} Sorry, •••.`],
    );
  });

  it('keeps to its range, and counts a session where it first shows the gap there', async () => {
    const { fields, read } = await brief({ 'dateRange.start': '2026-05-02', 'dateRange.end': '2026-05-04' });
    deepEqual([fields.sessions, read], [2, 2]);
    const none = await brief({ 'dateRange.start': '2026-06-01' });
    deepEqual([none.fields.sessions, none.groups, none.read], [0, [], 0]);
  });

  it('is a file of Markdown or CSV where that is asked for', async () => {
    const markdown = await text('text/markdown');
    match(markdown.type, /^text\/markdown/);
    match(
      markdown.body,
      /^# .+\n\nThe assistant said that it cannot do this\. .+\n\n4 conversations of 4 people;/,
    );
    match(markdown.body, / Counted to \d{4}-\d\d-\d\d, UTC\.\n/);
    const csv = await text('text/csv');
    match(csv.type, /^text\/csv/);
    equal(csv.body.trimEnd().split('\r\n').length, 5);
  });

  it('is refused with the name of the fault', async () => {
    const path = `/v1/gaps/${gapId}/brief?${toSearch({ instanceId, limit: 1 })}`;
    deepEqual(pathsOf(faultOf(await client.send(path), 400, 'VALIDATION_ERROR')), ['limit']);
    const format = `/v1/gaps/${gapId}/brief?${toSearch({ instanceId, format: 'md' })}`;
    match(
      faultOf(await client.send(format), 400, 'VALIDATION_ERROR').message,
      /format is not a parameter .+ the header Accept asks for application\/json, text\/markdown or text\/csv/,
    );
    const unknown = `/v1/gaps/${instanceId}/brief?${toSearch({ instanceId })}`;
    faultOf(await client.send(unknown), 404, 'NOT_FOUND');
  });
});
