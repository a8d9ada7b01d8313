/**
 * Extracts the text of content in the formats of chat APIs, and counts what it leaves out.
 *
 * Test: test/doors/traces/messages.test.ts.
 */
import type { OmissionCounts } from './omissions.ts';
import { isObject } from './values.ts';

export const SYSTEM_PROMPT = 'system prompt';
export const TOOL_CALL = 'tool call';
export const TOOL_RESULT = 'tool result';
const AUDIO = 'audio';

/** Type of a content part without text of the speaker → reason. */
const PART_REASONS: ReadonlyMap<string, string> = new Map([
  ...['image_url', 'input_image', 'image', 'image_asset_pointer', 'image_file'].map(
    (t) => [t, 'image'] as const,
  ),
  ...['input_audio', 'output_audio', 'audio', 'audio_url', 'audio_asset_pointer'].map(
    (t) => [t, AUDIO] as const,
  ),
  ...['real_time_user_audio_video_asset_pointer', 'video', 'video_url'].map((t) => [t, 'video'] as const),
  ...['file', 'input_file', 'document', 'attachment'].map((t) => [t, 'file'] as const),
  ...[
    'tool_use',
    'tool_call',
    'tool-call',
    'function_call',
    'server_tool_use',
    'server_tool_call',
    'mcp_tool_use',
  ].map((t) => [t, TOOL_CALL] as const),
  ...['tool_result', 'tool-result', 'function_call_output', 'tool_call_response'].map(
    (t) => [t, TOOL_RESULT] as const,
  ),
  ...['server_tool_call_response', 'mcp_tool_result', 'web_search_tool_result'].map(
    (t) => [t, TOOL_RESULT] as const,
  ),
  // A model's summary of earlier messages
  ['compaction', 'summary'],
  ...['thinking', 'reasoning', 'redacted_thinking', 'redacted-reasoning', 'reasoning-file'].map(
    (t) => [t, 'reasoning'] as const,
  ),
]);

/** Members of parts without a type, as Bedrock and Gemini write them, that hold no text of the speaker. */
const MEMBER_REASONS: readonly (readonly [member: string, reason: string])[] = [
  ...['toolUse', 'functionCall', 'function_call'].map((name) => [name, TOOL_CALL] as const),
  ...['toolResult', 'functionResponse', 'function_response'].map((name) => [name, TOOL_RESULT] as const),
  ...['reasoningContent', 'thought'].map((name) => [name, 'reasoning'] as const),
  ...['inlineData', 'inline_data', 'fileData', 'file_data'].map((name) => [name, 'file'] as const),
];

/** Reason for a text part that has no text. */
export const WITHOUT_TEXT = 'part without text';
/** Prefix of the reason that names an unknown type. */
export const OTHER_PART = 'part of type ';
const TEXT_PARTS: ReadonlySet<string> = new Set(['', 'text', 'input_text', 'output_text']);

/**
 * Returns the text of content: a string, a list of parts, or one part. Counts parts without text. Null for other
 * values.
 */
export function contentText(content: unknown, omitted: OmissionCounts): string | null {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    const texts: string[] = [];
    for (const part of content as readonly unknown[]) {
      const text = partText(part, omitted);
      if (text === null) return null;
      if (text !== '') texts.push(text);
    }
    return texts.join('\n');
  }
  // Gemini's form: { role, parts }.
  if (isObject(content) && Array.isArray(content['parts'])) return contentText(content['parts'], omitted);
  return partText(content, omitted);
}

function partText(part: unknown, omitted: OmissionCounts): string | null {
  if (typeof part === 'string') return part;
  if (!isObject(part)) return null;
  const { type, content_type: contentType } = part;
  const kind = typeof type === 'string' ? type : typeof contentType === 'string' ? contentType : '';
  const reason =
    kind === ''
      ? MEMBER_REASONS.find(([member]) => Boolean(part[member]))?.[1]
      : (PART_REASONS.get(kind) ?? mediaOf(kind, part['modality']));
  const spoken = reason === AUDIO || part['modality'] === AUDIO ? transcriptOf(part) : '';
  if (spoken !== '') return spoken;
  if (reason !== undefined) {
    omitted.add(reason);
    return '';
  }
  const text = part['text'] ?? part['refusal'] ?? part['content'];
  if (typeof text === 'string') return text;
  // OpenAI's assistants write { text: { value } }.
  if (isObject(text) && typeof text['value'] === 'string') return text['value'];
  omitted.add(TEXT_PARTS.has(kind) ? WITHOUT_TEXT : `${OTHER_PART}${kind.slice(0, 40)}`);
  return '';
}

/** Returns the transcript of an audio part, or of the one that OpenInference nests in it (`audio.audio.transcript`). */
function transcriptOf(part: Record<string, unknown>, depth = 0): string {
  const { transcript, audio } = part;
  if (typeof transcript === 'string' && transcript.trim() !== '') return transcript;
  return isObject(audio) && depth < 2 ? transcriptOf(audio, depth + 1) : '';
}

/** Classifies media of OpenTelemetry GenAI, which writes `blob` or `uri` with a modality. */
function mediaOf(kind: string, modality: unknown): string | undefined {
  if (kind !== 'blob' && kind !== 'uri') return undefined;
  return modality === 'image' || modality === 'audio' || modality === 'video' ? modality : 'file';
}
