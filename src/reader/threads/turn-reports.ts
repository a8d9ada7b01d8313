/**
 * Reports turns to the writer, redacted and shortened.
 *
 * Test: test/reader/threads/written-names.test.ts.
 */
import type { SessionState } from '../conversations/session-state.ts';
import type { Turn } from '../../domain/facts.ts';
import { truncate } from '../../domain/truncate.ts';
import type { TurnReport } from '../../domain/writings.ts';
import { redact } from '../personal/redact.ts';

/** Longest part of a turn that is reported, from its beginning, UTF-16 units. */
const READ_LENGTH = 1500;
/**
 * Characters that are dropped where a turn was cut: the cut may run through personal data, which redaction then misses.
 */
const CUT_LENGTH = 200;

/** Reports a turn. `session` must already include it. */
export function turnReport(
  { instance, instanceId, sessionId, role, content }: Turn,
  session: SessionState,
): TurnReport {
  const text = role === 'other' ? '' : reportedText(content, session);
  return { instance, instanceId, sessionId, at: session.turns, speaker: role, text };
}

function reportedText(content: string, session: SessionState): string {
  const redacted = redact(truncate(content, READ_LENGTH), session).trim();
  return content.length > READ_LENGTH ? truncate(redacted, redacted.length - CUT_LENGTH) : redacted;
}
