/**
 * OpenLLMetry (Traceloop): calls of models with messages flattened into attributes, and the entities around them.
 * https://www.traceloop.com/docs/openllmetry/contributing/semantic-conventions
 */
import { messagesOf, type Message } from '../messages.ts';
import type { ObservationKind } from '../observation.ts';
import { TOOL_CALL } from '../content.ts';
import type { OmissionCounts } from '../omissions.ts';
import type { Attributes } from '../span.ts';
import { isObject } from '../values.ts';
import type { Convention } from './convention.ts';
import { listIn } from './flattened.ts';
import { contentOf, parsed, recorded } from './recorded.ts';

const REQUEST = 'llm.request.type';
const ENTITY = 'traceloop.span.kind';
/** Until 0.17 they began with `llm`. Gateways write them, too. */
const PROMPTS = ['gen_ai.prompt', 'llm.prompts'];
const COMPLETIONS = ['gen_ai.completion', 'llm.completions'];
const INPUT = 'traceloop.entity.input';
const OUTPUT = 'traceloop.entity.output';

const REQUESTS: ReadonlySet<string> = new Set([
  'chat',
  'completion',
  'text_completion',
  'responses',
  // LiteLLM's calls
  'acompletion',
  'atext_completion',
  'aresponses',
  'anthropic_messages',
]);

export const traceloop: Convention = {
  reads: [REQUEST, ENTITY, INPUT, OUTPUT, ...[...PROMPTS, ...COMPLETIONS].map((name) => `${name}.`)],
  kindOf({ attributes }): ObservationKind | undefined {
    const request = attributes.get(REQUEST);
    if (typeof request === 'string') return REQUESTS.has(request.toLowerCase()) ? 'chat' : 'other';
    const entity = attributes.get(ENTITY);
    if (entity !== undefined) return entity === 'workflow' || entity === 'agent' ? 'agent' : 'other';
    return PROMPTS.some((name) => attributes.has(`${name}.0.content`)) ? 'chat' : undefined;
  },
  asked({ attributes }, omitted) {
    return (
      messagesIn(attributes, PROMPTS, 'user', omitted) ??
      recorded(entityIn(attributes.get(INPUT), 'inputs'), 'user', omitted)
    );
  },
  answered({ attributes }, omitted) {
    return (
      messagesIn(attributes, COMPLETIONS, 'assistant', omitted) ??
      recorded(entityIn(attributes.get(OUTPUT), 'outputs'), 'assistant', omitted)
    );
  },
};

function messagesIn(
  attributes: Attributes,
  names: readonly string[],
  role: string,
  omitted: OmissionCounts,
): readonly Message[] | undefined {
  for (const name of names) {
    const list = listIn(attributes, name);
    if (list.length > 0) return list.flatMap((member) => messageOf(member, role, omitted));
  }
  return undefined;
}

/** `role`, `content` (a text, or parts in JSON), and `tool_calls.0.name` … or `tool_calls` in JSON. */
function messageOf(member: unknown, role: string, omitted: OmissionCounts): readonly Message[] {
  if (!isObject(member)) return [];
  const own = member['role'] ?? role;
  if (own === 'thinking' || own === 'reasoning') {
    omitted.add('reasoning');
    return [];
  }
  const calls = parsed(member['tool_calls']);
  const listed = Array.isArray(calls) ? { tool_calls: calls } : {};
  if (isObject(member['function_call'])) omitted.add(TOOL_CALL);
  const content = contentOf(member['content']) ?? '';
  return messagesOf({ role: own, content, ...listed }, 'user', omitted) ?? [];
}

/**
 * LangChain's inputs are a member; a decorated function has its named arguments, and positional ones, of which a bare
 * text may be anything.
 */
function entityIn(value: unknown, member: 'inputs' | 'outputs'): unknown {
  const entity = parsed(value);
  if (!isObject(entity)) return entity;
  const { args, kwargs, [member]: own } = entity;
  if (own !== undefined) return own;
  if (!Array.isArray(args) && !isObject(kwargs)) return entity;
  if (isObject(kwargs) && Object.keys(kwargs).length > 0) return kwargs;
  const [first] = Array.isArray(args) ? (args as readonly unknown[]) : [];
  return typeof first === 'object' ? first : undefined;
}
