import type { ImportSummary, ImportTarget } from './importer.ts';

/**
 * Polls until queries count every message that an import sent; false when the time is up first.
 * One conversation tells: an instance's messages become visible in the order in which they were accepted.
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
    if (typeof messages === 'number' && messages >= last.messages) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
