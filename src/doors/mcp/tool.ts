/**
 * The interface of a tool, with helpers for its arguments and texts.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import type { Metric } from '../../domain/metrics.ts';
import { AppError } from '../../errors.ts';
import type { Page } from './data-text.ts';
import type { Reading } from './reading.ts';

export interface ToolContext {
  readonly reading: Reading;
  readonly now: () => number;
}

/** A tool of the MCP server. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** Returns the structured answer. Throws AppError, ToolError. */
  read(args: z.output<Input>, context: ToolContext): Promise<z.output<Output>>;
  /** Formats the answer as text; its texts are already neutral. */
  page(answer: z.output<Output>): Page;
}

/** Declares a tool with the types of its schemas. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  declared: Tool<Input, Output>,
): Tool {
  return declared as unknown as Tool;
}

/** An error that lists names to choose from. */
export class ToolError extends AppError {
  /** Names from conversations, one line each. */
  readonly choices: readonly string[];

  constructor(message: string, choices: readonly string[]) {
    super('VALIDATION_ERROR', message);
    this.name = 'ToolError';
    this.choices = choices;
  }
}

/** The error for an argument that breaks a rule. */
export function refused(argument: string, message: string): AppError {
  return new AppError('VALIDATION_ERROR', `The argument ${argument} ${message}.`, {
    details: [{ path: argument, message }],
  });
}

const MAX_TEXT = 200;

/** Schema of a text argument, 1 to 200 characters. */
export function text(description: string) {
  return z
    .string('must be a string')
    .trim()
    .min(1, 'must not be empty')
    .max(MAX_TEXT, `must be at most ${MAX_TEXT} characters long`)
    .describe(description);
}

/** Schema of a whole number with the default `otherwise`. */
export function whole(least: number, most: number, otherwise: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message).default(otherwise);
}

/** Arguments and members that several tools share. */
export const instance = text('Id or name; only needed when there are several.').optional();
export const period = (otherwise: string) =>
  text('24h, 7d, 4w, all, a day, or START/END (UTC dates or times; an END date is included).').default(
    otherwise,
  );
export const limit = (otherwise: number, most = 100) => whole(1, most, otherwise);
export const offset = whole(0, 1_000_000, 0);

/** Members of every answer that say where its numbers come from. */
export const source = {
  instance: z.string().describe('Id.'),
  period: z.object({ start: z.string().nullable(), end: z.string().nullable() }),
  lastProcessedAt: z.string().nullable().describe('When the newest messages were counted.'),
};

export const named = z.object({ id: z.string(), name: z.string() });

/** Returns the members of a value that a schema has; a newer service may answer more. */
export function picked<Schema extends z.ZodObject>(
  { shape }: Schema,
  value: z.output<Schema>,
): z.output<Schema> {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, value[name]])) as z.output<Schema>;
}

/** Schema of metric values. */
export function metricsOf<M extends Metric>(metrics: readonly M[]) {
  const shape = Object.fromEntries(metrics.map((metric) => [metric, z.number().nullable()]));
  return z.object(shape as Record<M, z.ZodNullable<z.ZodNumber>>);
}

/** Says how recent the numbers are. */
export function freshness(lastProcessedAt: string | null): string {
  return lastProcessedAt === null ? 'Nothing has been processed yet.' : `Processed up to ${lastProcessedAt}.`;
}

/** Says which rows are shown; empty if all are. */
export function rest(count: number, offset_: number, total: number): string {
  const next = offset_ + count;
  if (total === 0 || (offset_ === 0 && next >= total)) return '';
  if (count === 0) return `There are ${total} in all; offset ${offset_} is past the end.`;
  const more = next < total ? ` Ask again with offset ${next} for more.` : '';
  return `Shown: ${offset_ + 1} to ${next} of ${total}.${more}`;
}
