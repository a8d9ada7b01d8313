import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharesInEnglishTopic } from '../../../tools/eval/topic-languages.ts';
import type { LabelledRequest, TopicSnapshot } from '../../../tools/eval/topic-run.ts';

const snapshotOf = (
  requests: readonly (readonly [kind: string, language: string, topic: number | null])[],
): TopicSnapshot => ({
  requests: requests.map(([label, domain]) => ({ label, domain }) as LabelledRequest),
  topicOf: requests.map(([, , topic]) => topic),
  topics: new Map(),
  clusters: new Map(),
});

describe('sharesInEnglishTopic', () => {
  it('counts requests in the topic of most English ones of their kind', () => {
    const shares = sharesInEnglishTopic(
      snapshotOf([
        ['cancel', 'en', 1],
        ['cancel', 'en', 1],
        ['cancel', 'en', 2],
        ['cancel', 'de', 1],
        ['cancel', 'fr', 2],
        ['track', 'en', 2],
        ['track', 'de', null],
      ]),
    );
    deepEqual(
      [...shares],
      [
        ['en', 0.75],
        ['de', 0.5],
        ['fr', 0],
      ],
    );
  });

  it('finds none right where no English request has a topic', () => {
    deepEqual(
      [
        ...sharesInEnglishTopic(
          snapshotOf([
            ['cancel', 'en', null],
            ['cancel', 'de', null],
          ]),
        ),
      ],
      [
        ['en', 0],
        ['de', 0],
      ],
    );
  });
});
