/**
 * The life of an entity as answers have it. Strict: rejects members that are not declared.
 *
 * Test: test/e2e/steering-rules.test.ts.
 */
import { z } from 'zod';
import { LIFE_STATES } from './lives.ts';
import { uuid } from './uuid.ts';

const instant = z.iso.datetime();

export const releaseSchema = z.strictObject({
  name: z.string().describe('The attribute of sessions, such as service.version.'),
  value: z.string().describe('Its value, as text.'),
});

export const lifeSchema = z
  .strictObject({
    state: z.enum(LIFE_STATES).describe('Where it stands.'),
    fixedAt: instant
      .nullable()
      .describe('FIXED: since when, UTC; null: another state, or it is fixed in a release.'),
    release: releaseSchema.nullable().describe('FIXED: in which release, where that was said.'),
    owner: z.string().nullable().describe('Who takes care of it.'),
    note: z.string().nullable().describe('What there is to know.'),
    link: z.string().nullable().describe('Where more is, such as an issue: an http or https URL.'),
    at: instant.describe('When this was accepted, UTC.'),
    curationId: uuid.describe('The curation that said so: UNDO takes it back.'),
  })
  .nullable()
  .describe(
    'What people last said of it by TRACK, or of what merged into it; null: nobody has said anything.',
  );

export type Life = NonNullable<z.output<typeof lifeSchema>>;
