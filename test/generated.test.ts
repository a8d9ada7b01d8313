import { equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { generated } from './support/generate.ts';

describe('what `npm run generate` writes', () => {
  it('is as the declarations are now', async () => {
    for (const [path, text] of await generated()) equal(readFileSync(path, 'utf8'), text, path);
  });
});
