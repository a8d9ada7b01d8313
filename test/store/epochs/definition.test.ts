import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changesBetween, sameAnalysis, standingOf } from '../../../src/store/epochs/definition.ts';
import { parseView } from '../../../src/store/view-files.ts';

const BEFORE = 'fact:1 hour_fact:1 old:3 model:small@ab enrichment:3-cd assignment:2';
const AFTER = 'fact:2 hour_fact:1 return_fact:1 model:a b@ab enrichment:3-cd assignment:2';

const view = (name: string, version: number, after = ''): ReturnType<typeof parseView> =>
  parseView(
    `${name}.sql`,
    `-- view: ${name}\n-- version: ${version}\n${after === '' ? '' : `-- after: ${after}\n`}`,
  );

describe('definition', () => {
  it('says what changed, in words', () => {
    deepEqual(changesBetween(BEFORE, AFTER), [
      'view fact: version 1 → 2',
      'view old: gone',
      'view return_fact: new',
      'embedding model: small@ab → a b@ab',
    ]);
    deepEqual(changesBetween(AFTER, AFTER), []);
  });

  it('tells a change of analysis from a change of views', () => {
    equal(sameAnalysis(BEFORE, AFTER), false);
    equal(sameAnalysis(BEFORE, BEFORE.replace('fact:1', 'fact:2')), true);
    equal(sameAnalysis(BEFORE, BEFORE.replace('assignment:2', 'assignment:3')), false);
  });

  it('follows what a view depends on', () => {
    const views = [
      view('dimension', 1),
      view('fact', 2, 'dimension'),
      view('hour_fact', 1, 'fact'),
      view('rollup', 4, 'hour_fact'),
    ];
    const from = 'dimension:1 fact:1 hour_fact:1 rollup:4 model:m enrichment:e assignment:a';
    deepEqual(
      views.map((each) => standingOf(each, views, from)),
      ['same', 'changed', 'depends', 'depends'],
    );
  });
});
