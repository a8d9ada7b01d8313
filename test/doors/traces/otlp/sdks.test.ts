import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readLogs, readTraces, type ReadExport } from '../../../../src/doors/traces/otlp/read.ts';
import { exportsOf, fixtureName, SDK_RUNS } from '../../../support/sdk-exports.ts';
import { EXPECTED_EXPORTS, numberedObservations } from '../../../support/expected-observations.ts';

const folder = join(import.meta.dirname, '../../../fixtures/otlp');

function read(name: string, bytes: Uint8Array): object {
  const encoding = name.endsWith('.pb') ? 'protobuf' : 'json';
  const { tooMany, ...found }: ReadExport = (name.includes('.logs.') ? readLogs : readTraces)(
    bytes,
    encoding,
  );
  equal(tooMany, 0);
  const observations = found.observations.map((one) => {
    const { mayAdd: _mayAdd, ...observation } = one;
    return observation;
  });
  return { ...found, observations: numberedObservations(observations) };
}

describe('exports of real SDKs', () => {
  for (const name of Object.keys(EXPECTED_EXPORTS)) {
    it(`reads what was recorded: ${name}`, () => {
      deepEqual(read(name, readFileSync(join(folder, name))), EXPECTED_EXPORTS[name]);
    });
  }

  it('expects something of every recorded export', () => {
    const recorded = readdirSync(folder).filter((name) => name !== 'README.md');
    deepEqual(recorded.toSorted(), Object.keys(EXPECTED_EXPORTS).toSorted());
  });

  for (const run of SDK_RUNS) {
    it(`reads what ${run.name} exports now`, async () => {
      const received = await exportsOf(run);
      ok(received.length > 0);
      for (const one of received) {
        equal(one.isCompressed, true);
        equal(one.encoding, run.encoding);
        const name = fixtureName(run, one);
        deepEqual(read(name, one.bytes), EXPECTED_EXPORTS[name], name);
      }
    });
  }
});
