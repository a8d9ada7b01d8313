import type { ImportSummary, ImportTarget } from './importer.ts';

/**
 * Polls until queries count every message that an import sent; false when the time is up first. Where the service
 * does not say whether it has reached the position, one conversation tells: an instance's messages become visible in
 * the order in which they were accepted. That is not enough where an interrupted import had stored it already.
 */
export async function waitUntilVisible(
  target: ImportTarget,
  summary: Pick<ImportSummary, 'instanceId' | 'last'>,
  limitMs: number,
): Promise<boolean> {
  const { instanceId, last } = summary;
  if (instanceId === null || last === null) return true;
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await target.query(
      { groupBy: 'SESSION', instanceId, fields: 'messages', ids: last.sessionId },
      last.position,
    );
    const messages = answer.elements[0]?.fields['messages'];
    const isThere = typeof messages === 'number' && messages >= last.messages;
    if (isThere && answer.waitResult !== 'timeout') return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
