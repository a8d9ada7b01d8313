import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { isCuration } from '../../../src/stream/log/curation-shape.ts';
import { parseCuration } from '../../../src/web/ingest/curation-body.ts';

const instanceId = '0192f0a0-0000-7000-8000-00000000000a';
const GAP = '0192F0A0-0000-7000-8000-00000000000B';
const gap = GAP.toLowerCase();

const asked = (body: object): unknown =>
  parseCuration({ instanceId, action: 'TRACK', gapId: GAP, ...body }).asked;

/** `path message` of each fault; [] when it is taken. */
function faultsOf(body: object): string[] {
  try {
    parseCuration({ instanceId, action: 'TRACK', ...body });
    return [];
  } catch (error) {
    ok(error instanceof AppError, String(error));
    equal(error.code, 'VALIDATION_ERROR');
    return (error.details ?? []).map(({ path, message }) => `${path} ${message}`);
  }
}

describe('the body of a life', () => {
  it('states it whole: what is left out or empty is not there', () => {
    const open = { kind: 'TRACK', of: 'GAP', id: gap, state: 'OPEN' };
    deepEqual(asked({ state: 'OPEN' }), open);
    deepEqual(asked({ state: 'OPEN', owner: ' \t', note: ' \n' }), open);
    deepEqual(
      asked({
        state: 'FIXED',
        fixedAt: '2026-03-01T09:00:00+01:00',
        owner: ' Ann\n Lee ',
        note: ' Since the \u202enew form.\nSee there. ',
        link: 'https://example.com/issues/7',
      }),
      {
        kind: 'TRACK',
        of: 'GAP',
        id: gap,
        state: 'FIXED',
        fixedAt: Date.UTC(2026, 2, 1, 8) * 1000,
        owner: 'Ann Lee',
        note: 'Since the new form.\nSee there.',
        link: 'https://example.com/issues/7',
      },
    );
    deepEqual(asked({ state: 'FIXED', release: { name: 'service.version', value: ' 3.2 ' } }), {
      kind: 'TRACK',
      of: 'GAP',
      id: gap,
      state: 'FIXED',
      release: { name: 'service.version', value: '3.2' },
    });
  });

  it('is of one thing', () => {
    for (const [name, of] of [
      ['topicId', 'TOPIC'],
      ['signalId', 'SIGNAL'],
      ['repeatedRequestId', 'REPEATED_REQUEST'],
      ['gapId', 'GAP'],
    ] as const) {
      const body = { instanceId, action: 'TRACK', state: 'PLANNED', [name]: GAP };
      deepEqual(parseCuration(body).asked, { kind: 'TRACK', of, id: gap, state: 'PLANNED' });
    }
    deepEqual(faultsOf({ state: 'OPEN' }), ['topicId is required, or signalId, repeatedRequestId or gapId']);
    deepEqual(faultsOf({ state: 'OPEN', topicId: GAP, gapId: GAP }), ['gapId must not stand beside topicId']);
    deepEqual(faultsOf({ state: 'OPEN', labelId: GAP, gapId: GAP }), [
      'labelId is not a member that this request knows',
    ]);
  });

  it('says what is wrong', () => {
    const faults = (body: object): string[] => faultsOf({ gapId: GAP, ...body });
    const release = { name: 'plan', value: 'pro' };
    deepEqual(faults({}), ['state must be one of OPEN, PLANNED, FIXED, WONT_DO']);
    deepEqual(faults({ state: 'DONE' }), ['state must be one of OPEN, PLANNED, FIXED, WONT_DO']);
    deepEqual(faults({ state: 'OPEN', fixedAt: '2026-03-01T00:00Z', release }), [
      'fixedAt must stand beside FIXED alone',
      'release must stand beside FIXED alone',
    ]);
    deepEqual(faults({ state: 'FIXED', fixedAt: '2026-03-01T00:00Z', release }), [
      'release must not stand beside fixedAt',
    ]);
    const instant =
      'fixedAt must be an instant that exists, with Z or an offset, such as 2025-03-01T09:00:00+01:00';
    for (const fixedAt of [
      '2026-03-01',
      '2026-03-01T09:00',
      '2026-02-30T09:00Z',
      '9999-01-01T00:00Z',
      'now',
      7,
    ])
      deepEqual(faults({ state: 'FIXED', fixedAt }), [instant], String(fixedAt));
    for (const link of [
      'javascript:alert(1)',
      'example.com',
      'https://',
      'https://a b',
      'ftp://a',
      'https://a\u202eb',
    ])
      deepEqual(
        faults({ state: 'OPEN', link }),
        ['link must be a URL that begins with https:// or http://'],
        link,
      );
    deepEqual(faults({ state: 'OPEN', link: `https://a/${'x'.repeat(1991)}` }), [
      'link must be at most 2000 characters long',
    ]);
    deepEqual(faults({ state: 'OPEN', owner: 'x'.repeat(101), note: 'x'.repeat(1001) }), [
      'owner must be at most 100 characters long',
      'note must be at most 1000 characters long',
    ]);
    deepEqual(faults({ state: 'FIXED', release: { name: 'externalId', value: '' } }), [
      'release.name must name an attribute of sessions',
      'release.value must be 1 to 200 characters, none of them a control character',
    ]);
    deepEqual(faults({ state: 'FIXED', release: { ...release, more: 1 } }), [
      'release.more is not a member that this request knows',
    ]);
  });

  it('fits a record, and what does not fit is none', () => {
    const action = asked({
      state: 'FIXED',
      owner: 'x'.repeat(100),
      note: 'x'.repeat(1000),
      link: `https://a/${'x'.repeat(1990)}`,
      release: { name: 'plan', value: 'pro' },
    }) as object;
    const record = (changes: object): unknown => ({
      id: gap,
      keyId: 'key',
      action: { ...action, ...changes },
    });
    ok(isCuration(record({})));
    for (const changes of [
      { of: 'LABEL' },
      { state: 'DONE' },
      { fixedAt: 0.5 },
      { release: 'pro' },
      { release: { name: 'plan' } },
      { owner: 'x'.repeat(101) },
      { note: 7 },
      { link: 'javascript:alert(1)' },
    ])
      ok(!isCuration(record(changes)), JSON.stringify(changes));
  });
});
