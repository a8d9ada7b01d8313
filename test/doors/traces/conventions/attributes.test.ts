import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOST_ATTRIBUTES } from '../../../../src/doors/traces/conventions/attributes.ts';
import { observationsOfEvents } from '../../../../src/doors/traces/conventions/observe.ts';
import { OmissionCounts } from '../../../../src/doors/traces/omissions.ts';
import { observed, spanWith } from '../../../support/observed.ts';

const CHAT = { 'gen_ai.operation.name': 'chat' };

function told(...given: Parameters<typeof observed>): unknown {
  return observed(...given).attributes;
}

describe('attributes', () => {
  it('have names of ours, whatever the convention calls them', () => {
    deepEqual(
      told(
        {
          ...CHAT,
          'gen_ai.request.model': 'small',
          'gen_ai.prompt.name': 'reply',
          'gen_ai.prompt.version': 3,
        },
        { process: { 'service.version': '2.4.0', 'deployment.environment.name': 'live' } },
      ),
      {
        environment: 'live',
        model: 'small',
        'prompt.name': 'reply',
        'prompt.version': 3,
        'service.version': '2.4.0',
      },
    );
    deepEqual(
      told({
        'langfuse.observation.type': 'generation',
        'langfuse.observation.model.name': 'small',
        'langfuse.observation.prompt.name': 'reply',
        'langfuse.observation.prompt.version': 7,
        'langfuse.environment': 'staging',
        'langfuse.release': '2.5.0',
      }),
      {
        environment: 'staging',
        model: 'small',
        'prompt.name': 'reply',
        'prompt.version': 7,
        'service.version': '2.5.0',
      },
    );
    const openInference = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'small' };
    deepEqual(told({ ...openInference, 'llm.prompt_template.version': 'v1' }), {
      model: 'small',
      'prompt.version': 'v1',
    });
    const traceloop = { 'traceloop.prompt.key': 'reply', 'traceloop.prompt.version': 2 };
    deepEqual(told(traceloop), { 'prompt.name': 'reply', 'prompt.version': 2 });
    const langSmith = {
      'langsmith.metadata.lc_hub_repo': 'reply',
      'langsmith.metadata.lc_hub_commit_hash': 'a1',
    };
    deepEqual(told(langSmith), { 'prompt.name': 'reply', 'prompt.version': 'a1' });
    const prompt = JSON.stringify({ name: 'reply', version: 4, prompt: 'Be kind.' });
    deepEqual(told({ 'ai.telemetry.metadata.langfusePrompt': prompt }), {
      'prompt.name': 'reply',
      'prompt.version': 4,
    });
    deepEqual(told(CHAT, { process: { 'deployment.environment': 'live' } }), { environment: 'live' });
  });

  it('are members of metadata under their own names, but not ids and what libraries write', () => {
    for (const prefix of [
      'langfuse.trace.metadata.',
      'ai.telemetry.metadata.',
      'ai.settings.context.',
      'traceloop.association.properties.',
      'langsmith.metadata.',
      'trace.metadata.',
      'metadata.',
    ]) {
      const members = {
        plan: 'pro',
        seats: 3,
        beta: true,
        session_id: 's',
        userId: 'u',
        'thread.id': 't',
        externalId: 'e',
        langgraph_step: 4,
        ls_provider: 'x',
        user_api_key_alias: 'k',
        langfuseTags: 'l',
        tags: ['a'],
        '': 'none',
      };
      const written = Object.entries(members).map(([name, value]) => [prefix + name, value]);
      deepEqual(told(Object.fromEntries(written)), { beta: true, plan: 'pro', seats: 3 }, prefix);
    }
    const metadata = '{"plan": "pro", "session_id": "s", "tags": ["a"], "of": {"a": 1}}';
    deepEqual(told({ metadata }), { plan: 'pro' });
    deepEqual(told({ 'langfuse.trace.metadata': metadata }), { plan: 'pro' });
    equal(told({ metadata: '{"plan": ' }), undefined);
    deepEqual(told({ metadata: '{"__proto__": "a", "constructor": "b"}' }), { constructor: 'b' });
  });

  it('of a span come before those of its process, and what is written as such before metadata', () => {
    const process = { 'service.version': '1', 'langfuse.environment': 'live' };
    deepEqual(told({ ...CHAT, 'service.version': '2', 'metadata.service.version': '3' }, { process }), {
      environment: 'live',
      'service.version': '2',
    });
  });

  it('are none of a process where a span is no part of a conversation, nor the model of an embedding', () => {
    const process = { 'service.version': '1' };
    equal(told({ 'http.method': 'GET' }, { process }), undefined);
    const embedding = { 'gen_ai.operation.name': 'embeddings', 'gen_ai.request.model': 'tiny' };
    equal(told(embedding, { process }), undefined);
    deepEqual(told({ ...embedding, 'metadata.plan': 'pro' }, { process }), { plan: 'pro' });
  });

  it('are short, and as many as one request has: those with names of ours first, then by name', () => {
    equal(told({ 'metadata.note': 'x'.repeat(201), 'metadata.gone': '', 'metadata.null': null }), undefined);
    const many = Array.from({ length: 50 }, (_, index) => [`metadata.a${99 - index}`, 'x']);
    const found = Object.keys(
      told({ ...CHAT, ...Object.fromEntries(many), 'gen_ai.request.model': 'small' })!,
    );
    equal(found.length, MOST_ATTRIBUTES);
    deepEqual(found.slice(0, 3), ['model', 'a50', 'a51']);
  });

  it('of log records are those of their process, and the last ones of several', () => {
    const record = (version: string) => {
      const { traceId, spanId, attributes, resource } = spanWith(
        {},
        { process: { 'service.version': version } },
      );
      return { traceId, spanId, attributes, resource, name: 'gen_ai.user.message', at: 1, body: 'Hello' };
    };
    const [one] = observationsOfEvents([record('1'), record('2')], new OmissionCounts());
    deepEqual(one?.attributes, { 'service.version': '2' });
  });
});
