/**
 * The route that exports the data of an end user.
 *
 * Test: test/web/subject-route.test.ts.
 */
import { givenEndUser } from '../web/ingest/erasure-body.ts';
import { subjectLineSchema, subjectParameterSchemas } from '../query/subject-schema.ts';
import { declare } from './route.ts';

export const EXPORT_SUBJECT = declare({
  method: 'GET',
  path: '/subjects/{externalId}/export',
  operationId: 'exportSubject',
  summary: 'Export what is held of an end user',
  description:
    'Everything, one thing on each line: the end user, the feedback that they gave, their sessions, and the messages ' +
    'of these with what was found in them. The last line says that nothing is missing. It is streamed, and all lines ' +
    'are of one moment.',
  tag: 'Query',
  scope: 'query',
  instance: 'parameters',
  id: 'The end user: the userId of their messages, to the letter, percent-encoded.',
  idSchema: givenEndUser,
  parameters: subjectParameterSchemas,
  headers: ['X-Wait-For-Position'],
  answer: {
    description: 'The lines.',
    headers: ['X-Wait-Result'],
    content: { 'application/x-ndjson': { schema: { name: 'SubjectLine', schema: subjectLineSchema } } },
  },
  fails: [404],
});
