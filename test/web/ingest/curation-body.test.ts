import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { otherTopicId } from '../../../src/domain/curations.ts';
import { NAME_RULE } from '../../../src/domain/printable.ts';
import { AppError } from '../../../src/errors.ts';
import { parseCuration, parseNewTopic } from '../../../src/web/ingest/curation-body.ts';

const INSTANCE = '0192F0A0-0000-7000-8000-00000000000A';
const TOPIC = '0192f0a0-0000-7000-8000-00000000000B';
const OTHER = '0192f0a0-0000-7000-8000-00000000000c';
const instanceId = INSTANCE.toLowerCase();
const [topic, other] = [TOPIC.toLowerCase(), OTHER];

/** `path message` of each fault; [] when it is taken. */
function faultsOf(parse: (json: unknown) => unknown, json: unknown): string[] {
  try {
    parse(json);
    return [];
  } catch (error) {
    ok(error instanceof AppError, String(error));
    equal(error.code, 'VALIDATION_ERROR');
    return (error.details ?? []).map(({ path, message }) => `${path} ${message}`);
  }
}

describe('the body of a curation', () => {
  it('says what is asked for: ids in lower case, names on one line', () => {
    const asked = (body: object): unknown => {
      const request = parseCuration({ instanceId: INSTANCE, ...body });
      equal(request.instanceId, instanceId);
      return request.asked;
    };
    deepEqual(asked({ action: 'RENAME', topicId: TOPIC, name: '  Change\n\taddress \u{1f4e6} ' }), {
      kind: 'RENAME',
      entity: 'TOPIC',
      id: topic,
      name: 'Change address \u{1f4e6}',
    });
    deepEqual(asked({ action: 'RENAME', gapId: TOPIC, name: 'x\ud800' }), {
      kind: 'RENAME',
      entity: 'GAP',
      id: topic,
      name: 'x\ufffd',
    });
    deepEqual(asked({ action: 'PIN', topicClusterId: TOPIC }), { kind: 'PIN', entity: 'CLUSTER', id: topic });
    deepEqual(asked({ action: 'MERGE', topicId: TOPIC, intoTopicId: OTHER }), {
      kind: 'MERGE',
      id: topic,
      into: other,
    });
    deepEqual(asked({ action: 'MOVE', topicId: TOPIC, topicClusterId: OTHER }), {
      kind: 'MOVE',
      id: topic,
      cluster: other,
    });
    deepEqual(asked({ action: 'MOVE', topicId: TOPIC, newClusterName: ' Parcels ' }), {
      kind: 'MOVE',
      id: topic,
      cluster: null,
      clusterName: 'Parcels',
    });
    deepEqual(asked({ action: 'HIDE', topicId: TOPIC }), { kind: 'HIDE', id: topic });
    deepEqual(asked({ action: 'ROUTE', unclaimed: 'OTHER' }), {
      kind: 'ROUTE',
      id: otherTopicId(instanceId),
      unclaimed: 'OTHER',
    });
    deepEqual(asked({ action: 'ASSIGN', topicId: TOPIC, text: ' Where\nis  it?\ud800 ' }), {
      kind: 'ASSIGN',
      of: 'TOPIC',
      id: topic,
      text: 'Where\nis  it?\ufffd',
    });
    deepEqual(asked({ action: 'EXCLUDE', topicId: TOPIC, text: 'a'.repeat(4000) }), {
      kind: 'EXCLUDE',
      of: 'TOPIC',
      id: topic,
      text: 'a'.repeat(4000),
    });
    deepEqual(asked({ action: 'EXCLUDE', signalId: TOPIC, position: 7 }), {
      kind: 'EXCLUDE',
      of: 'SIGNAL',
      id: topic,
      position: 7,
    });
    deepEqual(asked({ action: 'ASSIGN', repeatedRequestId: TOPIC, position: 0 }), {
      kind: 'ASSIGN',
      of: 'REPEATED_REQUEST',
      id: topic,
      position: 0,
    });
    deepEqual(asked({ action: 'ASSIGN', sessionId: TOPIC, outcome: 'handed_over' }), {
      kind: 'ASSIGN',
      of: 'OUTCOME',
      id: topic,
      outcome: 'handed_over',
    });
    deepEqual(asked({ action: 'UNDO', curationId: TOPIC }), { kind: 'UNDO', id: topic });
  });

  const rename = { action: 'RENAME', instanceId, topicId: topic };
  const ACTIONS = 'must be one of RENAME, PIN, MERGE, MOVE, HIDE, ASSIGN, EXCLUDE, ROUTE, TRACK, UNDO';
  const FAULTS: readonly (readonly [body: unknown, faults: readonly string[]])[] = [
    [null, [' must be a JSON object']],
    ['RENAME', [' must be a JSON object']],
    [[], [' must be a JSON object']],
    [{}, [`action ${ACTIONS}`]],
    [{ action: 'CREATE', instanceId }, [`action ${ACTIONS}`]],
    [{ action: ['HIDE'], instanceId }, [`action ${ACTIONS}`]],
    [{ action: 'ROUTE', instanceId }, ['unclaimed must be one of FOUND, OTHER']],
    [{ action: 'ROUTE', instanceId, unclaimed: 'other' }, ['unclaimed must be one of FOUND, OTHER']],
    [{ action: 'HIDE' }, ['instanceId is required', 'topicId is required']],
    [{ action: 'HIDE', instanceId, topicId: 'x' }, ['topicId must be a UUID']],
    [{ action: 'HIDE', instanceId, topicId: 7 }, ['topicId must be a string']],
    [
      { action: 'HIDE', instanceId, topicId: topic, name: 'x' },
      ['name is not a member that this request knows'],
    ],
    [{ action: 'UNDO', instanceId, curationId: null }, ['curationId must be a string']],
    [rename, ['name is required']],
    [{ ...rename, name: ' \n ' }, ['name must not be empty']],
    [{ ...rename, name: '\u200b\u2060' }, ['name must not be empty']],
    [{ ...rename, name: 'x'.repeat(81) }, ['name must be at most 80 characters long']],
    [{ ...rename, name: 'a\u0000b' }, [`name ${NAME_RULE}`]],
    [{ ...rename, name: 'a\u202eb' }, [`name ${NAME_RULE}`]],
    [{ ...rename, name: 'a\ufff9b' }, [`name ${NAME_RULE}`]],
    [{ ...rename, name: ['x'] }, ['name must be a string']],
    [{ ...rename, name: 'x', gapId: topic }, ['gapId must not stand beside topicId']],
    [{ action: 'PIN', instanceId }, ['topicId is required, or topicClusterId or gapId']],
    [{ action: 'MERGE', instanceId, topicId: topic }, ['intoTopicId is required']],
    [{ action: 'ASSIGN', instanceId, topicId: topic, text: ' ' }, ['text must not be empty']],
    [
      { action: 'ASSIGN', instanceId, text: 'x' },
      ['topicId is required, or signalId, gapId, repeatedRequestId or sessionId'],
    ],
    [
      { action: 'EXCLUDE', instanceId, text: 'x' },
      ['topicId is required, or signalId, gapId or repeatedRequestId'],
    ],
    [{ action: 'ASSIGN', instanceId, sessionId: topic }, ['outcome is required with sessionId']],
    [
      { action: 'ASSIGN', instanceId, sessionId: topic, outcome: 'open', position: 1, gapId: topic },
      ['sessionId must not stand beside gapId', 'outcome must not stand beside gapId'],
    ],
    [
      { action: 'ASSIGN', instanceId, sessionId: topic, outcome: 'done' },
      ['outcome must be one of solved, thanked, handed_over, gave_up, not_possible, open'],
    ],
    [
      { action: 'ASSIGN', instanceId, topicId: topic, position: 1 },
      ['text is required with topicId', 'position must not stand beside topicId'],
    ],
    [{ action: 'EXCLUDE', instanceId, gapId: topic }, ['position is required with gapId']],
    [
      { action: 'EXCLUDE', instanceId, gapId: topic, signalId: topic, position: 1.5 },
      ['position must be a whole number'],
    ],
    [
      { action: 'EXCLUDE', instanceId, gapId: topic, signalId: topic, position: 1 },
      ['gapId must not stand beside signalId'],
    ],
    [
      { action: 'EXCLUDE', instanceId, topicId: topic, text: 'a'.repeat(4001) },
      ['text must be at most 4000 characters long'],
    ],
    [
      { action: 'MERGE', instanceId, topicId: TOPIC, intoTopicId: topic },
      ['intoTopicId must be another topic than topicId'],
    ],
    [{ action: 'MOVE', instanceId, topicId: topic }, ['topicClusterId is required, or newClusterName']],
    [
      { action: 'MOVE', instanceId, topicId: topic, topicClusterId: topic, newClusterName: 'x' },
      ['newClusterName must not stand beside topicClusterId'],
    ],
  ];
  for (const [body, faults] of FAULTS) {
    it(`names what is wrong in ${JSON.stringify(body)?.slice(0, 120)}`, () => {
      deepEqual(faultsOf(parseCuration, body), faults);
    });
  }

  it('takes names of up to 80 characters, after white space is collapsed', () => {
    deepEqual(faultsOf(parseCuration, { ...rename, name: ` ${'x '.repeat(40)}\n\n ` }), []);
    deepEqual(faultsOf(parseCuration, { ...rename, name: 'x'.repeat(80) }), []);
  });
});

describe('the body of a new topic', () => {
  it('has a description and looks ahead where it says nothing else', () => {
    const body = { instanceId: INSTANCE, name: ' Gift  wrapping ', examples: [' Wrap it,\nplease '] };
    deepEqual(parseNewTopic(body), {
      instanceId,
      asked: {
        kind: 'CREATE',
        name: 'Gift wrapping',
        description: '',
        examples: ['Wrap it,\nplease'],
        fromBeginning: false,
      },
    });
  });

  it('names what is wrong in it', () => {
    const body = { instanceId, name: 'x', examples: ['y'] };
    const FAULTS: readonly (readonly [body: unknown, faults: readonly string[]])[] = [
      [null, [' must be a JSON object']],
      [{}, ['instanceId is required', 'name is required', 'examples is required']],
      [{ ...body, examples: [] }, ['examples must hold at least 1 example']],
      [{ ...body, examples: Array(51).fill('y') }, ['examples must hold at most 50 examples']],
      [{ ...body, examples: 'y' }, ['examples must be an array of strings']],
      [
        { ...body, examples: ['y', ' ', 'z'.repeat(501), 7] },
        [
          'examples.1 must not be empty',
          'examples.2 must be at most 500 characters long',
          'examples.3 must be a string',
        ],
      ],
      [{ ...body, description: 'x'.repeat(501) }, ['description must be at most 500 characters long']],
      [{ ...body, fromBeginning: 1 }, ['fromBeginning must be true or false']],
      [{ ...body, topicId: topic }, ['topicId is not a member that this request knows']],
      [{ ...body, examples: Array(50).fill('z'.repeat(500)) }, []],
    ];
    for (const [json, faults] of FAULTS) deepEqual(faultsOf(parseNewTopic, json), faults);
  });
});
