/**
 * Validates values by zod schemas and turns their issues into an AppError.
 *
 * Test: test/web/ingest/request-body.test.ts, test/web/instances-route.test.ts.
 */
import type { z } from 'zod';
import { AppError, MAX_DETAILS, displayText, type ErrorDetail } from '../../errors.ts';

/** Returns the parsed value. Throws AppError VALIDATION_ERROR with at most MAX_DETAILS faults. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  {
    unknownMember = 'is not a member that this request knows',
    messagesRead = 0,
  }: { readonly unknownMember?: string; readonly messagesRead?: number } = {},
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details: ErrorDetail[] = [];
  for (const issue of result.error.issues.slice(0, MAX_DETAILS)) {
    if (issue.code === 'unrecognized_keys') {
      const keys = issue.keys.slice(0, MAX_DETAILS);
      details.push(...keys.map((key) => ({ path: [...issue.path, key].join('.'), message: unknownMember })));
    } else {
      const missing = issue.code === 'invalid_type' && valueAt(value, issue.path) === undefined;
      details.push({ path: issue.path.join('.'), message: missing ? 'is required' : issue.message });
    }
  }
  throw invalidRequest(details, messagesRead);
}

/**
 * Reports an issue unless a body has exactly one of these members. Returns the first that it has, if any. `names`: at
 * least two.
 */
export function onlyOneOf<Name extends string>(
  names: readonly [Name, ...Name[]],
  body: Readonly<Partial<Record<Name, unknown>>>,
  context: z.RefinementCtx,
): Name | undefined {
  const [named, ...others] = names.filter((name) => body[name] !== undefined);
  const [usual, ...choices] = names;
  const issue = (path: Name, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message });
  if (named === undefined)
    issue(usual, `is required, or ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`);
  for (const other of others) issue(other, `must not stand beside ${named}`);
  return named;
}

/** Makes the error for these faults; a path of '' is the whole body. */
export function invalidRequest(details: readonly ErrorDetail[], messagesRead = 0): AppError {
  const [first] = details;
  const where = first === undefined || first.path === '' ? 'The body' : displayText(first.path);
  return new AppError('VALIDATION_ERROR', `The request is not valid: ${where} ${first?.message ?? ''}.`, {
    details,
    messagesRead,
  });
}

/** Makes the error for a header that breaks a rule. */
export function invalidHeader(name: string, rule: string): AppError {
  return new AppError('VALIDATION_ERROR', `The ${name} header ${rule}.`, {
    details: [{ path: name, message: rule }],
  });
}

function valueAt(json: unknown, path: readonly PropertyKey[]): unknown {
  let value = json;
  for (const member of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[member];
  }
  return value;
}
