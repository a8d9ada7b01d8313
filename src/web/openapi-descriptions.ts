/**
 * Descriptions in the OpenAPI document of schema members that have none of their own.
 *
 * Test: test/web/docs-content.test.ts.
 */

/** A JSON Schema or a part of the OpenAPI document: plain JSON. */
export type Json = { readonly [member: string]: unknown };

/**
 * Descriptions by the end of a member's path; the longest match applies. A description in the schema itself comes
 * first.
 */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  // Requests.
  'IngestRequest.messages':
    'The messages in the order of the conversation: 1 to 10,000, stored all together or not at all.',
  'IngestRequest.metadata':
    'Free-form data about the instance, the session and its users; the last write wins.',
  'messages.content': 'What was said; not empty.',
  'messages.userId':
    'Who wrote it. Of user turns it names the end user (externalId); of others it is not counted.',
  'messages.metadata':
    'Free-form, kept with the message. createdAt in it goes before the one beside content.',
  'metadata.instance': 'Of the instance; `name` is what people call it.',
  'metadata.session': 'Of the session; `externalId` is your own name of it.',
  'metadata.users': 'Of end users, by their externalId.',
  'IngestResponse.instanceId': 'The instance that was created or used. Queries need it.',
  'IngestResponse.sessionId': 'The session that was created or used. Send it with the messages that follow.',

  'BatchRequestLine.messages': 'As those of POST /v1/ingest/; at most 10,000 over all lines.',
  'BatchRequestLine.metadata':
    'Free-form data about the instance, the session and its users; the last write wins.',
  'BatchResponseLine.instanceId': 'The instance that was created or used.',
  'BatchResponseLine.sessionId': 'The session that was created or used.',
  'BatchResponseLine.status': '200: stored.',
  'BatchResponseLine.success': 'False: not stored.',
  'BatchResponseLine.error': 'Why the line is not stored.',

  // Rows.
  'QueryResponse.elements': 'One row per group, or per group and bucket; at most `limit`.',
  'elements.dimensions':
    'What the row stands for: the entity of the grouping, and the bucket when there are buckets.',
  pagination: 'Which window of all rows this is.',
  'pagination.total': 'Number of all rows, on whatever page.',
  'pagination.limit': 'The most rows on a page, as asked.',
  'pagination.offset': 'How many rows come before, as asked.',

  // Errors.
  'Error.success': 'Always false.',
  'Error.error': 'What is wrong.',
  'error.code': 'For programs: one of the closed list in docs/errors.md.',
  'error.message': 'For people: the fact and what to do. Its wording may change.',
  'error.details': 'One entry per fault of a request that is not valid, at most 100.',
  'details.path':
    'Where: a dotted location such as `messages.0.content`, or the name of a parameter or header.',
  'details.message': 'What is wrong there.',

  id: 'Identifies it for ever; ids of found entities are the same after a replay.',
  name: 'A short name, made from what people say; it may get better.',
  description: 'A sentence about it.',
  createdAt: 'When it began, UTC.',
};

/** Returns the description of a member; undefined if none matches. */
function descriptionOf(path: readonly string[]): string | undefined {
  for (let from = 0; from < path.length; from += 1) {
    const found = DESCRIPTIONS[path.slice(from).join('.')];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Adds a description to each member without one. `name`: the schema's. */
export function describeMembers(name: string, schema: Json): Json {
  return described(schema, [name]);
}

function described(schema: Json, path: readonly string[]): Json {
  const result: Record<string, unknown> = { ...schema };
  if (isJson(schema['properties'])) {
    result['properties'] = Object.fromEntries(
      Object.entries(schema['properties']).map(([member, value]) => {
        const at = [...path, member];
        const inner = isJson(value) ? described(value, at) : {};
        const description = inner['description'] ?? descriptionOf(at);
        return [member, description === undefined ? inner : { ...inner, description }];
      }),
    );
  }
  if (isJson(schema['items'])) result['items'] = described(schema['items'], path);
  for (const choice of ['anyOf', 'oneOf', 'allOf']) {
    const parts = schema[choice];
    if (Array.isArray(parts)) {
      result[choice] = parts.map((part: unknown) => (isJson(part) ? described(part, path) : part));
    }
  }
  return result;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
