/** What OTLP/HTTP answers with, in the encoding of the request. Covered by test/e2e/otlp-rules.test.ts. */

/** `rejectedSpans` or `rejectedLogRecords` with a text. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

export function exportAnswerJson(signal: 'traces' | 'logs', { rejected, message }: PartialSuccess): object {
  if (rejected === 0 && message === '') return {};
  const counted =
    signal === 'traces' ? { rejectedSpans: String(rejected) } : { rejectedLogRecords: String(rejected) };
  return { partialSuccess: { ...(rejected === 0 ? {} : counted), errorMessage: message } };
}

/** ExportTraceServiceResponse and ExportLogsServiceResponse are alike: 1 partial success {1 count, 2 text}. */
export function exportAnswerProtobuf({ rejected, message }: PartialSuccess): Buffer {
  if (rejected === 0 && message === '') return Buffer.alloc(0);
  const partial = Buffer.concat([rejected === 0 ? Buffer.alloc(0) : number(1, rejected), text(2, message)]);
  return bytes(1, partial);
}

/** google.rpc.Status: 1 code, 2 message. */
export function statusProtobuf(code: number, message: string): Buffer {
  return Buffer.concat([number(1, code), text(2, message)]);
}

/** google.rpc.Code of an HTTP status. */
export function rpcCodeOf(status: number): number {
  switch (status) {
    case 400:
    case 413:
      return 3;
    case 401:
      return 16;
    case 403:
      return 7;
    case 404:
      return 5;
    case 429:
      return 8;
    case 503:
      return 14;
    default:
      return 13;
  }
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function text(field: number, value: string): Buffer {
  return value === '' ? Buffer.alloc(0) : bytes(field, Buffer.from(value));
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const digits: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...digits, rest]);
    digits.push((rest % 128) | 128);
  }
}
