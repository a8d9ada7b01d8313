import { deepEqual, rejects, throws } from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { join } from 'node:path';
import { SetupError } from '../../../src/errors.ts';
import { findLocalFolder } from '../../../src/reader/embedding/local-folder.ts';
import { openNameFinder } from '../../../src/reader/embedding/name-finder.ts';
import { temporaryDirectory } from '../../support/fold.ts';
import { writeNamesModel } from '../../support/names-model.ts';

const temporary = temporaryDirectory();
after(() => temporary.remove());

describe('a model that finds names', () => {
  it('finds them where they stand, parts of one name as one, and no places', async () => {
    const folder = join(temporary.path, 'names');
    writeNamesModel(folder, { persons: ['quilla', 'venn'], places: ['oslo'] });
    const finder = await openNameFinder(folder);
    const found = async (text: string): Promise<string[]> =>
      (await finder.find(text)).map(({ start, end }) => text.slice(start, end));
    deepEqual(await found('Hi, it is Quilla Venn-Quilla from Oslo; ask venn.'), [
      'Quilla Venn-Quilla',
      'venn',
    ]);
    deepEqual(await found('where is my parcel'), []);
    deepEqual(await found(''), []);
    deepEqual(await found('😀 quilla'), ['quilla']);
  });

  it('reads long texts to their end', async () => {
    const folder = join(temporary.path, 'long');
    writeNamesModel(folder, { persons: ['quilla'] });
    const finder = await openNameFinder(folder);
    const text = `${'the parcel is late '.repeat(2000)}quilla`;
    deepEqual(await finder.find(text), [{ start: text.length - 6, end: text.length }]);
  });

  it('is refused without labels for persons, and where it is not whole', async () => {
    const folder = join(temporary.path, 'other');
    writeNamesModel(folder, { persons: ['quilla'], labels: { 0: 'O', 1: 'B-LOC' } });
    await rejects(openNameFinder(folder), SetupError);
    const named = { setting: 'MASK_NAMES_MODEL', model: 'nothing', task: 'token-classification' };
    throws(
      () => findLocalFolder(named, temporary.path),
      /MASK_NAMES_MODEL: no model in .*token-classification/,
    );
  });
});
