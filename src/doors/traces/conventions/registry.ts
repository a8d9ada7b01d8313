import { aiSdk } from './ai-sdk.ts';
import type { Convention } from './convention.ts';
import { genAi } from './gen-ai.ts';
import { genAiEvents } from './gen-ai-events.ts';
import { ID_NAMES } from './ids.ts';
import { openInference } from './open-inference.ts';
import { traceloop } from './traceloop.ts';
import { gateways, logfire, platforms } from './whole-values.ts';

/**
 * All conventions. Of those that a span follows, the first says what it is, and the first with messages is read:
 * those of a library before what they have in common.
 */
export const CONVENTIONS: readonly Convention[] = [
  aiSdk,
  openInference,
  ...platforms,
  traceloop,
  genAi,
  genAiEvents,
  gateways,
  logfire,
];

const PREFIXES: readonly string[] = [...new Set(CONVENTIONS.flatMap(({ reads }) => reads))];

/** Whether any convention reads the attribute. */
export function isRead(name: string): boolean {
  return ID_NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
