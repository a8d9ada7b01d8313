/**
 * The answers of OTLP/HTTP. Keeps the invariant that an answer has the encoding of its request. Test:
 * test/e2e/otlp-rules.test.ts.
 */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

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
  const answer = new BinaryWriter();
  if (rejected > 0 || message !== '') {
    answer.tag(1, WireType.LengthDelimited).fork();
    if (rejected > 0) answer.tag(1, WireType.Varint).int64(rejected);
    writeText(answer, message);
    answer.join();
  }
  return Buffer.from(answer.finish());
}

/** google.rpc.Status: 1 code, 2 message. */
export function statusProtobuf(code: number, message: string): Buffer {
  const status = new BinaryWriter().tag(1, WireType.Varint).int32(code);
  writeText(status, message);
  return Buffer.from(status.finish());
}

function writeText(writer: BinaryWriter, text: string): void {
  if (text !== '') writer.tag(2, WireType.LengthDelimited).string(text);
}

const RPC_CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  413: 3,
  429: 8,
  503: 14,
};

/** google.rpc.Code of an HTTP status. */
export function rpcCodeOf(status: number): number {
  return RPC_CODES[status] ?? 13;
}
