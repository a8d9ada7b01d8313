import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AppError, ERROR_CODES, MAX_DETAILS, displayText } from '../src/errors.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/errors.md'), 'utf8');

describe('errors', () => {
  it('has the same codes and statuses in docs/errors.md and errors.ts, in the same order', () => {
    const listed = [...page.matchAll(/^\| `([A-Z_]+)`\s*\| (\d{3})\s*\|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    deepEqual(listed, Object.entries(ERROR_CODES));
  });

  it('shows each code that is sent, in an answer of that code', () => {
    const sections = page.split(/^### /m).slice(1);
    deepEqual(
      sections.map((section) => section.split('\n', 1)[0]).toSorted(),
      Object.keys(ERROR_CODES)
        .filter((code) => code !== 'UNAUTHORIZED')
        .toSorted(),
    );
    for (const section of sections) {
      const code = section.split('\n', 1)[0];
      const documented = [...section.matchAll(/"code": ?"([A-Z_]+)"/g)].map(([, name]) => name);
      // No request is known that causes an internal error.
      equal(documented.length > 0, code !== 'INTERNAL_ERROR');
      for (const name of documented) equal(name, code);
    }
  });

  it('cuts and escapes what it repeats, and leaves letters of any script', () => {
    const error = new AppError('VALIDATION_ERROR', `a\u001b[2J${'m'.repeat(5000)}`, {
      details: [{ path: `métadonnées.\u202e${'p'.repeat(5000)}`, message: 'x\n' }],
    });
    equal(error.message, `${`a\\u001b[2J${'m'.repeat(5000)}`.slice(0, 999)}…`);
    equal(error.message.length, 1000);
    equal(error.details?.[0]?.path, `métadonnées.\\u202e${'p'.repeat(200 - 19)}…`);
    equal(error.details?.[0]?.message, 'x\\u000a');
    equal(displayText('x'.repeat(200)).length, 200);
  });

  it('keeps at most 100 details', () => {
    const details = Array.from({ length: 101 }, (_, index) => ({ path: `p${index}`, message: 'm' }));
    equal(new AppError('VALIDATION_ERROR', 'm', { details }).details?.length, MAX_DETAILS);
  });
});
