/** The digest of any week, whoever asks. Covered by test/e2e/alerts-rules.test.ts. */
import { z } from 'zod';
import { bucketStart, formatInstant, parseTime } from '../domain/time.ts';
import type { SnapshotReader } from '../store/published/snapshot-reader.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import { digestFigures } from './body-schema.ts';
import { linkTo, type PublicUrl } from './body.ts';
import { plainText, readDigest, sectionsOf } from './digest.ts';
import { SnapshotFigures, type FiguresOptions } from './figures.ts';
import { htmlOf } from './html.ts';
import { WEEK } from './windows.ts';

/** What comes later has no four digits of a year. */
const LAST_WEEK = Date.UTC(9999, 11, 20) * 1000;
const WRONG_WEEK = 'must be a date that exists, such as 2026-11-16';

/** GET /v1/digest: its parameters. */
export const digestParameterSchemas = z.strictObject({
  instanceId: queryParameterSchemas.shape.instanceId.describe('The instance whose week it is.'),
  week: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, WRONG_WEEK)
    .transform((text, context) => {
      const at = parseTime(text);
      if (at !== null && at < LAST_WEEK) return at;
      context.addIssue(WRONG_WEEK);
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', format: 'date' })
    .describe('Any day of the week, which begins on Monday in UTC. Left out: the last week that is over.'),
});
export type DigestParameters = z.output<typeof digestParameterSchemas>;

export const digestResponseSchema = z.strictObject({
  text: z.string().describe('The digest in words, in English.'),
  window: z
    .strictObject({
      start: z.iso.datetime().describe('UTC.'),
      end: z.iso.datetime().describe('UTC; not included.'),
    })
    .describe('The week, by event time.'),
  ...digestFigures,
});

/** A digest as figures, and as a page of HTML that needs nothing else. */
export interface DigestAnswer {
  readonly json: z.output<typeof digestResponseSchema>;
  readonly html: string;
}

export interface DigestReaderOptions extends FiguresOptions {
  /** The reader of the shard that an instance (UUID) belongs to. */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read'>;
  readonly publicUrl: PublicUrl;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
}

/** Reads the digests of instances that are known to exist. */
export class DigestReader {
  readonly #options: DigestReaderOptions;

  constructor(options: DigestReaderOptions) {
    this.#options = options;
  }

  /** Throws AppError SERVICE_UNAVAILABLE while the views cannot be read. */
  async read({ instanceId, week }: DigestParameters, caller = ''): Promise<DigestAnswer> {
    const { readerOf, publicUrl, now } = this.#options;
    const start = bucketStart('WEEK', week ?? now() * 1000 - WEEK);
    const span = { start, end: start + WEEK };
    const digest = await readerOf(instanceId).read(
      (snapshot) => readDigest(new SnapshotFigures(snapshot, instanceId, this.#options), span),
      caller,
    );
    const { span: _, ...figures } = digest;
    const sections = sectionsOf(digest);
    return {
      json: {
        text: plainText(sections),
        window: { start: formatInstant(span.start), end: formatInstant(span.end) },
        ...structuredClone(figures),
      } as DigestAnswer['json'],
      html: htmlOf({
        title: 'Weekly digest',
        sections,
        link: `${publicUrl}${linkTo(instanceId, null)}`,
      }),
    };
  }
}
