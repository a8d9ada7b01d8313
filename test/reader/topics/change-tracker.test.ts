import { deepEqual } from 'node:assert/strict';
import { it } from 'node:test';
import { ChangeTracker } from '../../../src/reader/topics/change-tracker.ts';

it('says what changed, as it was before the first change, and forgets it', () => {
  const changes = new ChangeTracker<string>();
  changes.note(7, 'a');
  changes.note(2, 'b');
  changes.note(7, 'c');
  deepEqual(changes.drain(), [
    [2, 'b'],
    [7, 'a'],
  ]);
  deepEqual(changes.drain(), []);
});

it('names what is unsaved, each once', () => {
  const changes = new ChangeTracker<string>();
  for (const number of [7, 2, 7]) changes.markUnsaved(number);
  deepEqual(changes.takeUnsaved(), [7, 2]);
  deepEqual(changes.takeUnsaved(), []);
});
