/**
 * Reads the digest of any week for API callers.
 *
 * Test: test/e2e/alerts-rules.test.ts.
 */
import { z } from 'zod';
import { localBucketAt, startOfDate } from '../../domain/local-time.ts';
import { formatInstant, parseTime } from '../../domain/time.ts';
import type { SnapshotReader } from '../../store/published/snapshot-reader.ts';
import { readInstanceRow } from '../../query/instance-reader.ts';
import { queryParameterSchemas } from '../../query/parameters.ts';
import { checkSegment } from '../../query/segments.ts';
import { digestFigures } from './body-schema.ts';
import { linkToSpan, type PublicUrl } from './body.ts';
import { readDigest } from './digest.ts';
import { figuresOf, plainText, sectionsOf } from './digest-words.ts';
import { SnapshotFigures, type FiguresOptions } from './figures.ts';
import { htmlOf } from './html.ts';

/** Upper bound of the week: years have four digits. */
const LAST_WEEK = Date.UTC(9999, 11, 20) * 1000;
const WRONG_WEEK = 'must be a date that exists, such as 2026-11-16';

/** Parameters of GET /v1/digest. */
export const digestParameterSchemas = z.strictObject({
  instanceId: queryParameterSchemas.shape.instanceId.describe('The instance whose week it is.'),
  week: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, WRONG_WEEK)
    .refine((text) => (parseTime(text) ?? Infinity) < LAST_WEEK, WRONG_WEEK)
    .optional()
    .meta({ type: 'string', format: 'date' })
    .describe('Any day of the week, which begins on Monday. Left out: the last week that is over.'),
  timeZone: queryParameterSchemas.shape.timeZone.describe(
    'Whose week is meant: a name of the IANA database. Left out: that of the instance.',
  ),
  segment: queryParameterSchemas.shape.segment,
});
export type DigestParameters = z.output<typeof digestParameterSchemas>;

export const digestResponseSchema = z.strictObject({
  text: z.string().describe('The digest in words, in English.'),
  window: z
    .strictObject({
      start: z.iso.datetime().describe('UTC.'),
      end: z.iso.datetime().describe('UTC; not included.'),
      timeZone: z.string().describe('Whose week it is.'),
    })
    .describe('The week, by event time.'),
  ...digestFigures,
});

/** A digest as JSON, and as a self-contained HTML page. */
export interface DigestAnswer {
  readonly json: z.output<typeof digestResponseSchema>;
  /** `origin`: what links begin with where PUBLIC_URL is not set. */
  readonly html: (origin: string) => string;
}

export interface DigestReaderOptions extends FiguresOptions {
  /** Returns the reader of the shard that contains an instance (UUID). */
  readonly readerOf: (instanceId: string) => Pick<SnapshotReader, 'read'>;
  readonly publicUrl: PublicUrl;
  /** Returns the name of an instance, or null. */
  readonly nameOf: (instanceId: string) => Promise<string | null>;
  readonly now: () => number;
}

/** Reads digests; the caller checks that the instance exists. */
export class DigestReader {
  readonly #options: DigestReaderOptions;

  constructor(options: DigestReaderOptions) {
    this.#options = options;
  }

  /**
   * Throws AppError VALIDATION_ERROR for an attribute that no session has, SERVICE_UNAVAILABLE while the views cannot be
   * read.
   */
  async read(
    { instanceId, week, timeZone = 'UTC', segment = [] }: DigestParameters,
    caller = '',
  ): Promise<DigestAnswer> {
    const { readerOf, publicUrl, nameOf, now } = this.#options;
    const at = now() * 1000;
    const day = week === undefined ? null : startOfDate(week, timeZone);
    const thisWeek = localBucketAt('WEEK', timeZone, at);
    const span = localBucketAt('WEEK', timeZone, day ?? thisWeek.start - 1);
    const digest = await readerOf(instanceId).read(async (snapshot) => {
      const row = await readInstanceRow(snapshot, instanceId);
      if (row !== undefined) await checkSegment(snapshot, row['instance'] as number, segment);
      const figures = new SnapshotFigures(snapshot, instanceId, this.#options);
      return readDigest(figures, segment, span, timeZone, at);
    }, caller);
    const name = await nameOf(instanceId);
    const title = name === null ? 'Weekly digest' : `Weekly digest of ${name}`;
    return {
      json: {
        text: plainText(sectionsOf(digest, name)),
        window: { start: formatInstant(span.start), end: formatInstant(span.end), timeZone },
        ...structuredClone(figuresOf(digest)),
      } as DigestAnswer['json'],
      html: (origin) => {
        const url = publicUrl === '' ? origin : publicUrl;
        const sections = sectionsOf(digest, null, instanceId);
        const link = `${url}${linkToSpan(instanceId, span, timeZone, segment)}`;
        return htmlOf({ title, sections, publicUrl: url, link });
      },
    };
  }
}
