/**
 * Waits until queries return what an import sent.
 *
 * Test: test/doors/import/visible.test.ts.
 */
import type { QueryAnswer } from './client.ts';
import type { ImportSummary, ImportTarget } from './contract.ts';

const ASK_EVERY_MS = 100;

/**
 * Polls until queries return every message of an import; false after `limitMs`. Where the service does not report its
 * position, the session of the last message decides: an instance's messages become visible in the order of acceptance.
 * That is not enough where an interrupted import had already stored that session. `onCounted` receives the number of
 * visible messages.
 */
export async function waitUntilVisible(
  target: Pick<ImportTarget, 'query'>,
  {
    instanceId,
    last,
    marks = [],
  }: Pick<ImportSummary, 'instanceId' | 'last'> & Partial<Pick<ImportSummary, 'marks'>>,
  limitMs: number,
  onCounted?: (messages: number) => void,
): Promise<boolean> {
  if (instanceId === null || last === null) return true;
  const deadline = performance.now() + limitMs;
  const until = async (at: { position: number; sessionId: string }, least: number): Promise<boolean> => {
    for (;;) {
      const answer = await target.query(
        { groupBy: 'SESSION', instanceId, fields: 'messages', ids: at.sessionId },
        at.position,
      );
      if (answer.waitResult !== 'timeout' && messagesOf(answer) >= least) return true;
      if (performance.now() > deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
  };
  for (const mark of onCounted === undefined ? [] : marks) {
    if (!(await until(mark, 0))) return false;
    onCounted?.(mark.sent);
  }
  return until(last, last.messages);
}

function messagesOf({ elements: [first] }: QueryAnswer): number {
  const messages = first?.fields['messages'];
  return typeof messages === 'number' ? messages : 0;
}
