/** What a writer is told of a turn. Covered by test/reader/threads/written-names.test.ts. */
import type { SessionState } from '../conversations/session-state.ts';
import type { Turn } from '../../domain/facts.ts';
import { truncate } from '../../domain/truncate.ts';
import type { TurnReport } from '../../domain/writings.ts';
import { redact } from '../personal/redact.ts';

/** Of a longer turn only the beginning is read. */
const READ_LENGTH = 1500;
/** What is hidden is hidden whole: personal data in the last characters of what is read may have been cut. */
const CUT_LENGTH = 200;

/** `session` has taken the turn in. */
export function turnReport(
  { instance, instanceId, sessionId, role, content }: Turn,
  session: SessionState,
): TurnReport {
  const text = role === 'other' ? '' : toldText(content, session);
  return { instance, instanceId, sessionId, at: session.turns, speaker: role, text };
}

function toldText(content: string, session: SessionState): string {
  const redacted = redact(truncate(content, READ_LENGTH), session).trim();
  return content.length > READ_LENGTH ? truncate(redacted, redacted.length - CUT_LENGTH) : redacted;
}
