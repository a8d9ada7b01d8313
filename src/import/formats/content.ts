import { isObject, type OmissionCounts } from './format.ts';

/** What the types of content parts that hold no text of the speaker are called. */
const PART_REASONS: ReadonlyMap<string, string> = new Map([
  ...['image_url', 'input_image', 'image', 'image_asset_pointer', 'image_file'].map(
    (t) => [t, 'image'] as const,
  ),
  ...['input_audio', 'audio', 'audio_url', 'audio_asset_pointer'].map((t) => [t, 'audio'] as const),
  ...['real_time_user_audio_video_asset_pointer', 'video', 'video_url'].map((t) => [t, 'video'] as const),
  ...['file', 'input_file', 'document', 'attachment'].map((t) => [t, 'file'] as const),
  ...['tool_use', 'tool_call', 'tool-call', 'function_call', 'server_tool_use'].map(
    (t) => [t, 'tool call'] as const,
  ),
  ...['tool_result', 'tool-result', 'function_call_output'].map((t) => [t, 'tool result'] as const),
  ...['thinking', 'reasoning', 'redacted_thinking'].map((t) => [t, 'reasoning'] as const),
]);

/**
 * The text of content as chat APIs have it: a string, a list of parts, or one part. Parts without text are counted.
 * Null where it is none of these.
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
  return partText(content, omitted);
}

function partText(part: unknown, omitted: OmissionCounts): string | null {
  if (typeof part === 'string') return part;
  if (!isObject(part)) return null;
  const { type, content_type: contentType } = part;
  const kind = typeof type === 'string' ? type : typeof contentType === 'string' ? contentType : '';
  const reason = PART_REASONS.get(kind);
  if (reason !== undefined) {
    omitted.add(reason);
    return '';
  }
  const text = part['text'] ?? part['refusal'] ?? part['content'];
  if (typeof text === 'string') return text;
  // OpenAI's assistants write { text: { value } }.
  if (isObject(text) && typeof text['value'] === 'string') return text['value'];
  omitted.add(kind === '' ? 'part without text' : `part of type ${kind.slice(0, 40)}`);
  return '';
}

/** `2026-03-01 09:30:00.123`, which databases write for UTC, as an instant; any other value as it is. */
export function utcTime(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value === '') return undefined;
  const [, day, time] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?UTC)?$/.exec(value) ?? [];
  if (day === undefined || time === undefined) return zoned(value);
  return `${day}T${time.length === 5 ? `${time}:00` : time.slice(0, 15)}Z`;
}

/** `2026-03-01 09:30:00+00` has an offset that is no ISO one. */
function zoned(value: string): string {
  const [, day, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?) ?([+-]\d{2}(?::?\d{2})?)$/.exec(value) ?? [];
  if (day === undefined || time === undefined || offset === undefined) return value;
  const digits = offset.replace(':', '');
  return `${day}T${time.slice(0, 15)}${digits.slice(0, 3)}:${digits.slice(3) || '00'}`;
}
