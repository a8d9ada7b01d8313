/**
 * All formats that are recognised, our own first; among equal confidences the first wins. To add one, write its file
 * and list it here.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { chatgpt } from './chatgpt.ts';
import { claude } from './claude.ts';
import type { Format } from './format.ts';
import { intercom } from './intercom.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { lmsys } from './lmsys.ts';
import { openaiBatch } from './openai-batch.ts';
import { openai } from './openai.ts';
import { sharegpt } from './sharegpt.ts';
import { slack } from './slack.ts';
import { undertone } from './undertone.ts';
import { whatsapp } from './whatsapp.ts';
import { zendesk } from './zendesk.ts';

export const FORMATS: readonly Format[] = [
  undertone,
  openai,
  openaiBatch,
  chatgpt,
  claude,
  sharegpt,
  lmsys,
  langfuse,
  langsmith,
  intercom,
  zendesk,
  whatsapp,
  slack,
];
