/**
 * Reads batches of OpenAI's API: requests in one file, their responses in another, in any order. A request without a
 * response is a conversation; a response without its request is left out.
 * Source: platform.openai.com/docs/guides/batch.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, type Reading, type RowFormat } from './format.ts';
import { openai } from './openai.ts';

/** True for requests to other endpoints, such as embeddings or moderations. */
function isNoChat(url: unknown): boolean {
  return typeof url === 'string' && !/\/(?:chat\/completions|responses)\b/.test(url);
}

function isNoAnswer(response: unknown): boolean {
  const body = isObject(response) ? response['body'] : null;
  return isObject(body) && (Array.isArray(body['data']) || Array.isArray(body['results']));
}

export const openaiBatch: RowFormat = {
  kind: 'rows',
  name: 'openai-batch',
  title: 'OpenAI batch',
  joins: true,
  recognise: byShare({
    holds: (value) => 'custom_id' in value && (isObject(value['body']) || 'response' in value),
    confidence: 0.95,
    reason: 'entries have a custom_id, and a request or its response',
  }),
  place(value) {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    const id = textOf(value['custom_id']);
    if (id === undefined) return { fault: 'custom_id: missing' };
    const { body, url, response = null } = value;
    if (!isObject(body) && response === null) return { leftOut: 'request that failed' };
    if (isNoChat(url) || isNoAnswer(response)) return { leftOut: 'request that is no chat' };
    const kept = { ...(isObject(body) ? { body } : {}), ...(response === null ? {} : { response }) };
    return { conversation: id, part: id, at: null, kept };
  },
  assemble(id, rows): Reading {
    const requests = rows.filter((row) => isObject(row) && 'body' in row);
    const responses = rows.filter((row) => isObject(row) && 'response' in row);
    if (requests.length > 1)
      return {
        fault: `custom_id ${JSON.stringify(id)}: is in several requests; import each batch by itself`,
      };
    if (requests.length === 0)
      return { leftOut: 'answer of a batch without its request (name the input file as well)' };
    return openai.read({ custom_id: id, ...Object.assign({}, ...responses, ...requests) });
  },
};
