/**
 * Reads attributes of conversations (versions, environment, model, prompt, free metadata) from spans and resources.
 * Keeps the invariant that an observation has at most MOST_ATTRIBUTES of them, each of which segments can tell.
 *
 * Test: test/doors/traces/conventions/attributes.test.ts.
 */
import { attributeValue, isAttributeName } from '../../../domain/attributes.ts';
import type { ObservationKind, ObservedAttributes, ObservedValue } from '../observation.ts';
import type { Attributes } from '../span.ts';
import { isObject } from '../values.ts';
import { ID_MEMBERS, JSON_METADATA, METADATA } from './ids.ts';
import { parsed } from './recorded.ts';

/** Attributes of one request at most. */
export const MOST_ATTRIBUTES = 20;

/** The names of what has a name of ours, the most specific first. */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map([
  ['service.version', ['service.version', 'langfuse.release']],
  ['environment', ['langfuse.environment', 'deployment.environment.name', 'deployment.environment']],
  [
    'model',
    [
      // OpenTelemetry GenAI; OpenInference; Langfuse; the AI SDK up to 6; OpenLLMetry until 0.17
      'gen_ai.request.model',
      'llm.model_name',
      'langfuse.observation.model.name',
      'ai.model.id',
      'llm.request.model',
    ],
  ],
  [
    'prompt.name',
    [
      'gen_ai.prompt.name',
      'langfuse.observation.prompt.name',
      'traceloop.prompt.key',
      // Prompts of LangChain's hub
      'langsmith.metadata.lc_hub_repo',
    ],
  ],
  [
    'prompt.version',
    [
      'gen_ai.prompt.version',
      'langfuse.observation.prompt.version',
      'traceloop.prompt.version',
      'llm.prompt_template.version',
      'langsmith.metadata.lc_hub_commit_hash',
    ],
  ],
]);

/** These say the same of all that a process does. */
const OF_PROCESSES = ['service.version', 'environment'];

/** A prompt of Langfuse in the metadata of the AI SDK, as JSON. */
const LANGFUSE_PROMPT = 'ai.telemetry.metadata.langfusePrompt';

/** Metadata as JSON in one attribute: OpenInference, Langfuse. */
const JSON_MEMBERS = [JSON_METADATA, 'langfuse.trace.metadata'];

export const ATTRIBUTE_NAMES: ReadonlySet<string> = new Set([...[...KNOWN.values()].flat(), ...JSON_MEMBERS]);

/** What libraries write into metadata by themselves: LangChain and LangGraph, Langfuse, LiteLLM. */
const OF_LIBRARIES = /^(?:_|ls_|lc_|langgraph_|langfuse|checkpoint|user_api_key)/;

/** Returns the attributes that a span says, those of its resource included; undefined: none. */
export function attributesOf(
  span: Attributes,
  resource: Attributes,
  kind: ObservationKind,
): ObservedAttributes | undefined {
  const found = new Map<string, ObservedValue>();
  // What holds no messages is told by itself alone: most spans of a process have nothing to do with a conversation.
  if (kind !== 'other') takeKnown(found, resource, OF_PROCESSES);
  takeFree(found, span);
  takeKnown(
    found,
    span,
    // Embeddings and guardrails have models, too.
    [...KNOWN.keys()].filter((name) => kind !== 'other' || name !== 'model'),
  );
  return found.size === 0 ? undefined : boundedAttributes(found);
}

/** The attributes that have a name of ours, then the first of all others by name, as many as a request may have. */
export function boundedAttributes(
  attributes: Iterable<readonly [string, ObservedValue]>,
): ObservedAttributes {
  const rank = (name: string): string => `${KNOWN.has(name) ? 0 : 1}${name}`;
  const sorted = [...attributes].toSorted(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
  return Object.fromEntries(sorted.slice(0, MOST_ATTRIBUTES));
}

function takeKnown(
  found: Map<string, ObservedValue>,
  attributes: Attributes,
  names: readonly string[],
): void {
  for (const name of names)
    for (const key of KNOWN.get(name) ?? []) if (put(found, name, attributes.get(key))) break;
}

function takeFree(found: Map<string, ObservedValue>, attributes: Attributes): void {
  for (const name of JSON_MEMBERS) {
    const members = parsed(attributes.get(name));
    if (isObject(members))
      for (const [member, value] of Object.entries(members)) putFree(found, member, value);
  }
  for (const [name, value] of attributes) {
    const prefix = METADATA.find((start) => name.startsWith(start));
    if (prefix !== undefined) putFree(found, name.slice(prefix.length), value);
  }
  const prompt = parsed(attributes.get(LANGFUSE_PROMPT));
  if (!isObject(prompt)) return;
  put(found, 'prompt.name', prompt['name']);
  put(found, 'prompt.version', prompt['version']);
}

function putFree(found: Map<string, ObservedValue>, name: string, value: unknown): void {
  if (!ID_MEMBERS.has(name) && !OF_LIBRARIES.test(name)) put(found, name, value);
}

/** Returns false for what is no attribute. */
function put(found: Map<string, ObservedValue>, name: string, value: unknown): boolean {
  if (!isAttributeName(name) || attributeValue(value) === null) return false;
  found.set(name, value as ObservedValue);
  return true;
}
