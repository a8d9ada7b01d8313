import { equal, throws } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readVariable, writeVariable } from '../../src/cli/env-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-env-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, '.env');

describe('a variable in an .env file', () => {
  it('makes the file, readable by its owner alone', () => {
    equal(readVariable(file, 'EMBEDDING_MODEL'), null);
    writeVariable(file, 'EMBEDDING_MODEL', 'Xenova/all-MiniLM-L6-v2');
    equal(readFileSync(file, 'utf8'), 'EMBEDDING_MODEL=Xenova/all-MiniLM-L6-v2\n');
    equal(statSync(file).mode & 0o777, 0o600);
    equal(readVariable(file, 'EMBEDDING_MODEL'), 'Xenova/all-MiniLM-L6-v2');
  });

  it('takes the place of its lines at the end, and leaves the others', () => {
    const before =
      '# mine\nPORT=1\n# EMBEDDING_MODEL=no\nEMBEDDING_MODEL=a\nMY_EMBEDDING_MODEL=b\nexport EMBEDDING_MODEL ' +
      '= c\nSECRET="x # y"';
    writeFileSync(file, before, { mode: 0o640 });
    writeVariable(file, 'EMBEDDING_MODEL', 'd');
    equal(
      readFileSync(file, 'utf8'),
      '# mine\nPORT=1\n# EMBEDDING_MODEL=no\nMY_EMBEDDING_MODEL=b\nSECRET="x # y"\nEMBEDDING_MODEL=d\n',
    );
    equal(statSync(file).mode & 0o777, 0o600);
  });

  it('keeps any path as it is', () => {
    for (const path of ['/srv/my models/a#b', "/it's/here", 'C:\\models\\x', '/plain-1.0/x_y']) {
      writeVariable(file, 'EMBEDDING_MODEL', path);
      equal(readVariable(file, 'EMBEDDING_MODEL'), path);
    }
    throws(() => writeVariable(file, 'EMBEDDING_MODEL', 'a\nb'), /cannot stand in an \.env file/);
  });
});
