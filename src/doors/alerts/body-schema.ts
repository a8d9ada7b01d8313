/**
 * Schemas of posted bodies by type; docs/alerts.md and the webhooks of /openapi.json derive from them.
 *
 * Test: test/doors/alerts/body.test.ts.
 */
import { z } from 'zod';
import { EFFECT_VERDICTS } from '../../domain/effects.ts';
import { releaseSchema } from '../../domain/life-schema.ts';
import { effectSideSchema } from '../../query/effects/effects-schema.ts';
import { uuid } from '../../domain/uuid.ts';
import { COUNTED, KINDS_OF_CONDITIONS, WINDOWS } from './rule.ts';

const count = z.int().min(0);
const instant = z.iso.datetime();

const common = {
  alert: z
    .strictObject({
      id: uuid.describe('The alert.'),
      name: z.string().describe('What people call it.'),
      kind: z.enum(KINDS_OF_CONDITIONS).describe('What it waits for.'),
    })
    .describe('The alert that says it.'),
  instanceId: uuid.describe('The instance that is watched.'),
  text: z.string().describe('The message in words, in English.'),
  link: z.string().describe('Where the dashboard shows it: a path, behind PUBLIC_URL where that is set.'),
};
const position = z.number().describe('Stream position that the numbers include.');
const window = z
  .strictObject({
    granularity: z
      .enum(WINDOWS)
      .nullable()
      .describe(
        'Null: a new topic or value, and what came back, has no window; start and end are the days that count.',
      ),
    start: instant.describe('UTC.'),
    end: instant.describe('UTC; not included.'),
    timeZone: z.string().describe('Whose hour, day or week it is.'),
  })
  .describe('The time that is counted, by event time.');
const entity = z.strictObject({
  groupBy: z.enum([...COUNTED, 'REPEATED_REQUEST']).describe('What it is.'),
  id: uuid.describe('As in queries.'),
  name: z.string().describe('Its name when the message was made.'),
});

const precision = z
  .strictObject({
    share: z.number().describe('The estimate.'),
    low: z.number().describe('Where the interval begins, which holds the truth with a confidence of 95 %.'),
    high: z.number().describe('Where it ends.'),
    checked: count.describe('Conversations that people checked.'),
  })
  .describe(
    'Of the conversations in which it was found: the share in which it is there, as GET /v1/checks says.',
  );

/** Maximum number of differences listed in a message about a new value. */
export const MOST_DIFFERENCES_LISTED = 100;

const comparedValues = z.strictObject({
  segmentKey: z.string().describe('The attribute.'),
  value: z.string().describe('The new value.'),
  against: z
    .string()
    .describe('The value that had the most conversations in the four weeks before the new one came up.'),
  sessionsAgainst: count.describe('Its conversations on the days on which both occur.'),
  differences: z
    .array(
      entity.extend({
        difference: z
          .enum(['only', 'more', 'less', 'never'])
          .describe(
            'only: no conversation of the other value has it; never: none of this value has; else whether its share is ' +
              'larger.',
          ),
        share: z.number().describe('The share of the conversations of the new value that have it.'),
        shareAgainst: z.number().describe('The same of the other value.'),
      }),
    )
    .max(MOST_DIFFERENCES_LISTED)
    .describe(`What is not chance, the least likely first; at most ${MOST_DIFFERENCES_LISTED}.`),
});

export type ComparedValues = z.output<typeof comparedValues>;

const firedSchema = z.strictObject({
  ...common,
  window,
  value: z
    .number()
    .describe(
      'What was measured: conversations, with dsat_share and came_back a share of them, with new_value those of the value.',
    ),
  bound: z.number().describe('What it was compared with.'),
  sessions: z
    .number()
    .optional()
    .describe('With dsat_share and came_back: all conversations of the window, or of the days that count.'),
  before: z
    .strictObject({
      start: instant.describe('UTC.'),
      end: instant.describe('UTC; not included.'),
      sessions: z.number().describe('Conversations in all of it.'),
      windows: z.number().describe('How many windows it holds.'),
    })
    .optional()
    .describe('With rising: the time that it is compared with.'),
  compared: comparedValues
    .optional()
    .describe(
      'With new_value: what the new value is compared with, as GET /v1/differences does, and what differs.',
    ),
  fixed: z
    .strictObject({
      fixedAt: instant.nullable().describe('Since when it is fixed; null: in a release.'),
      release: releaseSchema.nullable().describe('In which release it is fixed.'),
      before: effectSideSchema.nullable().describe('The weeks before.'),
      after: effectSideSchema.nullable().describe('The weeks after, in which it came up less often.'),
    })
    .optional()
    .describe('With came_back: what GET /v1/effects says of it.'),
  entity: entity.nullable().describe('What it is about; null: the instance as a whole.'),
  precision: precision
    .nullable()
    .describe(
      'Of the conversations in which it was found: the share in which it is there, as GET /v1/checks says; null: nobody ' +
        'checked.',
    ),
  quotes: z.array(z.string()).describe('Requests in the words of users, where the alert asks for quotes.'),
  position,
});

/** Maximum number of entities listed in a message about held-back firings. */
export const MOST_HELD_BACK_NAMED = 100;

const heldBackSchema = z.strictObject({
  ...common,
  window,
  value: z.number().describe('How many entities met the condition and get no message of their own.'),
  bound: z.number().describe('How many messages the alert sends about a window.'),
  heldBack: z
    .array(entity.extend({ sessions: count.describe('Conversations in the window.') }))
    .max(MOST_HELD_BACK_NAMED)
    .describe(`The first ${MOST_HELD_BACK_NAMED} of them, those with the most conversations first.`),
  position,
});

const compared = z.strictObject({
  now: count.describe('In the week, so far where it is not over.'),
  before: count.describe('In the week before; in the same part of it where the week is not over.'),
});
const listed = z.array(
  z.strictObject({
    id: uuid.describe('As in queries.'),
    name: z.string().describe('Its name.'),
    sessions: count.describe('Conversations with it.'),
    signalType: z.enum(['SAT', 'DSAT']).optional().describe('Of a signal.'),
    gapType: z.enum(['TOOL', 'KNOWLEDGE']).optional().describe('Of a gap.'),
    precision: precision
      .optional()
      .describe('Where people checked it, over all time: the share that is right.'),
  }),
);
const discussed = z.array(
  listed.element.extend({ sessionsBefore: count.describe('Conversations with it in the week before.') }),
);
const changed = z.array(
  entity.extend({
    sessions: count.describe('Conversations with it in the week.'),
    sessionsBefore: count.describe('In the week before.'),
    weeksBefore: z
      .strictObject({
        sessions: count.describe('Conversations with it in all of them.'),
        weeks: count.describe('How many weeks they are, eight at most.'),
      })
      .optional()
      .describe('Of what rises against more weeks than one: those weeks.'),
  }),
);

const fixed = z.array(
  entity.extend({
    verdict: z
      .enum(EFFECT_VERDICTS)
      .describe('HELPED: it comes up less often. CAME_BACK: it did, and does no more. WORSE: more often.'),
    fixedAt: instant.nullable().describe('Since when it is fixed; null: in a release.'),
    release: releaseSchema.nullable().describe('In which release it is fixed.'),
    before: effectSideSchema.nullable().describe('The weeks before.'),
    after: effectSideSchema.nullable().describe('The weeks after.'),
    again: effectSideSchema.nullable().describe('CAME_BACK: the weeks in which it is more frequent again.'),
  }),
);

/** Figures of a weekly digest. */
export const digestFigures = {
  sessions: compared.describe('Conversations.'),
  users: compared.describe('End users.'),
  dissatisfied: compared.describe('Conversations with a signal of dissatisfaction.'),
  topics: discussed.describe('The most discussed topics.'),
  newTopics: listed.describe('Topics that had no conversation before.'),
  rising: changed.describe(
    'What came up more often than chance explains: than in the week before, or in the eight weeks before.',
  ),
  falling: changed.describe('What came up less often than chance explains.'),
  fixed: fixed.describe(
    'What is fixed, and of which this week tells whether that helped, as GET /v1/effects does.',
  ),
  gaps: listed.describe('The most frequent gaps.'),
  dissatisfaction: listed.describe('The most frequent signals of dissatisfaction.'),
  repeatedRequests: listed.describe('The most frequent repeated requests.'),
};

export type DigestFigures = z.output<z.ZodObject<typeof digestFigures>>;

const digestSchema = z.strictObject({ ...common, window, ...digestFigures, position });

function posted<const Type extends string, Data extends z.ZodType>(type: Type, data: Data) {
  return z.strictObject({
    type: z.literal(type).describe('What kind of message it is.'),
    timestamp: instant.describe('When the message was made, UTC.'),
    data: data.describe('What it says.'),
  });
}

/** Bodies of format `undertone` by type. */
export const POSTED = {
  'alert.fired': posted('alert.fired', firedSchema),
  'alert.held_back': posted('alert.held_back', heldBackSchema),
  'alert.test': posted('alert.test', z.strictObject(common)),
  'digest.weekly': posted('digest.weekly', digestSchema),
} as const;

export type PostedType = keyof typeof POSTED;
