/**
 * The routes of links: each link opens one view for people without a key.
 *
 * Test: test/web/links.test.ts.
 */
import { z } from 'zod';
import { givenUuid, uuid } from '../domain/uuid.ts';
import { SHARED_VIEWS } from '../domain/shared-views.ts';
import { instanceSchema } from './instances.ts';
import { declare, json } from './route.ts';

/** Lifetime of a link, days. */
const DAYS = { usual: 30, most: 365 };
const daysRule = `must be a whole number from 1 to ${DAYS.most}`;
const MOST_CHARACTERS = 1000;

export const newLinkSchema = z.strictObject(
  {
    instanceId: givenUuid.toLowerCase().describe('The instance that it shows.'),
    view: z
      .string('must be a string')
      .max(MOST_CHARACTERS, `must be at most ${MOST_CHARACTERS} characters long`)
      .describe(
        "What it shows, as the dashboard's address says it behind `?`: the view (`" +
          `${SHARED_VIEWS.join('`, `')}\`), its id, the range, what it is compared with, the buckets and the signals.`,
      ),
    days: z
      .int(daysRule)
      .min(1, daysRule)
      .max(DAYS.most, daysRule)
      .default(DAYS.usual)
      .describe('How many days it lives for.'),
  },
  'must be a JSON object',
);

const linkSchema = z.strictObject({
  id: uuid.describe('What it is revoked by; it opens nothing.'),
  instanceId: uuid.describe('The instance that it shows.'),
  view: z.string().describe("What it shows, as the dashboard's address says it."),
  keyId: z.string().describe('The key or the person that made it.'),
  createdAt: z.iso.datetime(),
  endsAt: z.iso.datetime().describe('It ends then, or with the key or the person that made it.'),
});
export const madeLinkSchema = z.strictObject({
  link: linkSchema.describe('The link, as it is listed.'),
  token: z
    .string()
    .describe('What opens it, in this answer alone: the address is that of the dashboard and `#link=TOKEN`.'),
});
export const linkListSchema = z.strictObject({
  elements: z.array(linkSchema).describe('Those that have not ended, the newest first.'),
});
export const openedLinkSchema = z.strictObject({
  view: linkSchema.shape.view,
  endsAt: linkSchema.shape.endsAt,
  instance: instanceSchema
    .pick({ id: true, name: true, timeZone: true })
    .describe('The instance that it shows.'),
});

export type MadeLink = z.output<typeof madeLinkSchema>;
export type LinkList = z.output<typeof linkListSchema>;
export type OpenedLink = z.output<typeof openedLinkSchema>;

export const CREATE_LINK = declare({
  method: 'POST',
  path: '/links',
  operationId: 'createLink',
  summary: 'Make a link to a view',
  description:
    'Whoever has the link sees this view of this instance without a key, and nothing else: no conversation, no end ' +
    'user, no words of users, no other range. At most 100 links of one key or person are open at a time.',
  tag: 'Links',
  scope: 'query',
  instance: 'body',
  body: {
    required: true,
    content: json('NewLink', newLinkSchema, {
      // An example id, which the reader has to replace.
      instanceId: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10',
      view: 'view=overview&range=28d',
    }),
  },
  answer: {
    status: 201,
    description: 'The link, and its token.',
    content: json('MadeLink', madeLinkSchema),
  },
  fails: [404, 409, 413],
});

export const LIST_LINKS = declare({
  method: 'GET',
  path: '/links',
  operationId: 'listLinks',
  summary: 'List links',
  description: "The links of the key's project, without their tokens.",
  tag: 'Links',
  scope: 'query',
  instance: 'own',
  parameters: z.strictObject({}),
  answer: { description: 'All of them.', content: json('LinkList', linkListSchema) },
  fails: [],
});

export const REVOKE_LINK = declare({
  method: 'DELETE',
  path: '/links/{id}',
  operationId: 'revokeLink',
  summary: 'Revoke a link',
  description: 'It opens nothing any more, in every process within a second.',
  tag: 'Links',
  scope: 'query',
  instance: 'own',
  isBodiless: true,
  id: 'The link.',
  parameters: z.strictObject({}),
  answer: { status: 204, description: 'It is revoked.' },
  fails: [404],
});

export const READ_LINK = declare({
  method: 'GET',
  path: '/link',
  operationId: 'readLink',
  summary: 'See what a link shows',
  description: "The request's own link, which it shows in `x-undertone-link` in place of a key.",
  tag: 'Links',
  scope: null,
  instance: 'own',
  shared: { views: SHARED_VIEWS, free: [], redact: (answer) => answer as object },
  parameters: z.strictObject({}),
  answer: { description: 'The link.', content: json('ShownLink', openedLinkSchema) },
  fails: [404],
});
