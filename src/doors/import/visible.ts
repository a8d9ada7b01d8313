/** Covered by test/doors/import/visible.test.ts and test/doors/import/importer.test.ts. */
import type { QueryAnswer } from './client.ts';
import type { ImportSummary, ImportTarget } from './contract.ts';

const ASK_EVERY_MS = 100;

/**
 * Polls until queries count every message that an import sent; false when the time is up first. Where the service
 * does not say whether it has reached the position, one conversation tells: an instance's messages become visible in
 * the order in which they were accepted. That is not enough where an interrupted import had stored it already.
 * `onCounted` hears how many of the messages are counted.
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
