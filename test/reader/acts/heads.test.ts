import { deepEqual, equal, match, notEqual, ok, throws } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import { BUCKETS, decodeHead, encodeHead, featuresOf, loadHead } from '../../../src/reader/acts/heads.ts';
import { fit } from '../../../tools/train/logistic.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-heads-'));
after(() => rmSync(folder, { recursive: true }));

describe('a head', () => {
  it('learns to tell texts apart, keeps it through its file and learns the same again', () => {
    const good = ['great answer thank you', 'great help thanks', 'that is great'];
    const bad = ['terrible answer', 'that is terrible', 'terrible help'];
    const examples = [...good, ...bad].map((text) => ({
      features: featuresOf(text),
      positive: good.includes(text),
      weight: 1,
    }));
    const trained = fit(examples);
    const bytes = encodeHead(trained.weights, trained.bias);
    const head = decodeHead(bytes);
    ok(head.logit(featuresOf('great')) > 0);
    ok(head.logit(featuresOf('terrible')) < 0);
    const again = fit(examples);
    deepEqual(encodeHead(again.weights, again.bias), bytes);
    equal(decodeHead(encodeHead(again.weights, again.bias)).digest, head.digest);
    match(head.digest, /^[0-9a-f]{64}$/);
    notEqual(decodeHead(encodeHead(again.weights, again.bias + 1)).digest, head.digest);
  });

  it('takes any text', () => {
    for (const text of ['', ' ', '\ud800', '🙂', 'x'.repeat(10_000), 'a b '.repeat(5000)]) {
      const features = featuresOf(text);
      ok(features.every((feature) => feature < BUCKETS));
      equal(new Set(features).size, features.length);
    }
  });

  it('says in one line what to do when its file is absent or broken', () => {
    throws(
      () => loadHead('gap', folder),
      (error) => error instanceof SetupError && /npm run train/.test(error.message),
    );
    writeFileSync(join(folder, 'gap.bin'), 'UTH0');
    throws(() => loadHead('gap', folder), /no head of this version/);
  });
});
